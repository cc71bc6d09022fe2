//go:build linux || darwin

package benchtest

import (
	"errors"
	"os"
	"syscall"
)

// ownDescriptors is how many descriptors this process may have open, and how many
// are; 0 is unknown. The Go runtime has raised the soft limit to the hard one
// when the program started, and gives children the one that there was; who sets
// it anew takes that from them, so it is only read.
func ownDescriptors() (limit, open int) {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return 0, 0
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
