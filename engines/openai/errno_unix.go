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

// noAddress reports that there is no address, or port, to dial from.
func noAddress(err error) bool { return errors.Is(err, syscall.EADDRNOTAVAIL) }

// noRoute reports that there is no way to the host.
func noRoute(err error) bool {
	for _, no := range []syscall.Errno{syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// brokenOff reports that the other side closed the connection or reset it.
func brokenOff(err error) bool {
	return atEnd(err) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// refused reports that nobody listens.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
