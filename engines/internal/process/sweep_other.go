//go:build !linux

package process

// sweep needs /proc: elsewhere the process group is all there is.
func sweep(string) int { return 0 }
