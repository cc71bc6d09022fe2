//go:build !linux

package process

// untold: what has ended shows when it is reaped.
const untold = true

// undead is false, since nothing tells.
func undead(int) bool { return false }
