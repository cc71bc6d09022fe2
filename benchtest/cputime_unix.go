//go:build unix

package benchtest

import (
	"syscall"
	"time"
)

// processTime is the CPU time of this process so far, without its children's;
// 0 is unknown.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
