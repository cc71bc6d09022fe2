//go:build !linux && !darwin

package descriptors

// opened is unknown here: what finds no descriptor says so.
func opened(int) int { return 0 }
