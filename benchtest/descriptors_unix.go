//go:build linux || darwin

package benchtest

import (
	"errors"
	"os"
	"syscall"
)

// ownDescriptors is how many descriptors this process may have open, and how many
// are; 0 is unknown. The Go runtime has raised the soft limit to the hard one
// when the program started; where it was lowered since, it is raised again.
func ownDescriptors() (limit, open int) {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return 0, 0
	}
	if r.Cur < r.Max {
		up := syscall.Rlimit{Cur: r.Max, Max: r.Max}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &up) == nil {
			r = up
		}
	}
	limit = int(min(r.Cur, 1<<30))
	// On Linux too this is a list of them.
	list, err := os.ReadDir("/dev/fd")
	switch {
	case errors.Is(err, syscall.EMFILE):
		return limit, limit
	case err != nil:
		return 0, 0
	}
	return limit, len(list) - 1 // without that of the list
}
