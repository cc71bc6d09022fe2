//go:build !windows

package benchtest

import (
	"os"
	"syscall"
)

// raise sends this process the signal again.
func raise(s os.Signal) {
	if sig, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(os.Getpid(), sig)
	}
}
