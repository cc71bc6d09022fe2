//go:build linux

package main

import (
	"syscall"
	"unsafe"
)

const (
	clockRealtime  = 0
	clockMonotonic = 1
)

// clock reads a clock of the kernel, in nanoseconds. CLOCK_MONOTONIC is one for
// all processes of a host.
func clock(id uintptr) int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

func monotonic() int64 { return clock(clockMonotonic) }

// processorTime is the processor time of a process and all its threads, also
// those that have ended, without its children; false when it is gone. See
// clock_getcpuclockid(3) for the clock's number.
func processorTime(pid int) (seconds float64, ok bool) {
	const scheduled = 2
	var ts syscall.Timespec
	_, _, no := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|scheduled), uintptr(unsafe.Pointer(&ts)), 0)
	return float64(ts.Nano()) / 1e9, no == 0
}

// sleepUntil sleeps to a time of monotonic, or less when a signal comes.
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
