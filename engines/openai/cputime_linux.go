package openai

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time of this process so far.
func cpuTime() (time.Duration, bool) { return rusage(syscall.RUSAGE_SELF) }

// threadTime is that of the calling thread.
func threadTime() (time.Duration, bool) {
	const thread = 1 // RUSAGE_THREAD
	return rusage(thread)
}

func rusage(of int) (time.Duration, bool) {
	var u syscall.Rusage
	err := syscall.Getrusage(of, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err == nil
}
