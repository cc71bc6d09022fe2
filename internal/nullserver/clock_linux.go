package nullserver

import (
	"syscall"
	"time"
	"unsafe"
)

// origin and base tie the runtime's clock, which is read without a system
// call, to CLOCK_MONOTONIC, which it is.
var origin, base = tie()

func tie() (time.Time, int64) {
	best, bestBase, width := time.Time{}, int64(0), time.Hour
	for range 16 {
		before := time.Now()
		now := kernel(clockMonotonic)
		if d := time.Since(before); d < width {
			best, bestBase, width = before, now-int64(d/2), d
		}
	}
	return best, bestBase
}

// Now is a clock in nanoseconds that is the same for all processes of a host:
// CLOCK_MONOTONIC on Linux, the wall clock elsewhere.
func Now() int64 { return base + int64(time.Since(origin)) }

const (
	clockRealtime  = 0
	clockMonotonic = 1
)

func kernel(clock uintptr) int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// sleepUntil sleeps to a time of Now, or less when a signal comes.
func sleepUntil(at int64) {
	const absolute = 1
	ts := syscall.NsecToTimespec(at)
	syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, absolute, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}

// sharpen lets the calling thread's sleeps end within a microsecond or so,
// where the kernel's default slack is 50.
func sharpen() {
	const setTimerSlack = 29
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}
