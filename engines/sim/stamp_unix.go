//go:build linux || darwin || freebsd || openbsd

package sim

import "golang.org/x/sys/unix"

// monotonic is CLOCK_MONOTONIC, in nanoseconds.
var monotonic = func() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail: the clock is there, and so is t
	return t.Nano()
}
