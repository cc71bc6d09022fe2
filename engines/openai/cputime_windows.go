package openai

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time of this process so far.
func cpuTime() (time.Duration, bool) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0, false
	}
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) } // of 100 ns
	return time.Duration(100 * (ticks(kernel) + ticks(user))), true
}

// threadTime is that of the calling thread, which is not asked for here.
func threadTime() (time.Duration, bool) { return 0, false }
