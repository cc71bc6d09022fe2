//go:build !linux

package process

// undead is false: what has ended shows when it is reaped.
func undead(int) bool { return false }
