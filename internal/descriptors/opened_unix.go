//go:build linux || darwin

package descriptors

import (
	"errors"
	"os"
	"syscall"
)

// opened is how many descriptors are open; 0 is unknown. Where none is left to
// count them with, it is the limit.
func opened(limit int) int {
	// On Linux too this is a list of them.
	list, err := os.ReadDir("/dev/fd")
	switch {
	case errors.Is(err, syscall.EMFILE):
		return limit
	case err != nil:
		return 0
	}
	return len(list) - 1 // without that of the list
}
