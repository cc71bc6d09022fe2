//go:build !windows

package openai

import (
	"errors"
	"syscall"
)

// exhausted reports that this host ran out of descriptors, ports or buffers.
func exhausted(err error) bool {
	for _, no := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// refused reports that nobody listens.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
