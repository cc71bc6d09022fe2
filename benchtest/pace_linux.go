package benchtest

import (
	"syscall"
	"time"
)

// nap sleeps for a short time in the kernel, whose timers are good to some
// tens of microseconds where the runtime's are good to a millisecond. It may
// return early.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // interrupted is early
}
