//go:build !(linux || darwin || freebsd || openbsd)

package sim

// monotonic is no clock that other processes share.
var monotonic func() int64
