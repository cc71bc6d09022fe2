//go:build linux

package main

import (
	"syscall"
	"time"
)

// sleepThread has the calling thread sleep, in the kernel and not in the Go
// runtime, whose timers another thread may serve.
func sleepThread(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // a signal ends it sooner
}
