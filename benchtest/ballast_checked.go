//go:build race || asan || msan

package benchtest

// carryBallast does nothing: these detectors keep book of every byte that is
// allocated, touched or not.
func carryBallast() {}
