//go:build unix && !linux

package openai

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time of this process so far.
func cpuTime() (time.Duration, bool) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err == nil
}

// threadTime is that of the calling thread, which this system does not tell.
func threadTime() (time.Duration, bool) { return 0, false }
