//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"net"
	"syscall"
)

// listen listens with kernel stamps of arrival on every connection.
func listen(address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if control := raw.Control(func(fd uintptr) {
			// Connections inherit it, so that their first bytes have it too.
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
		}); control != nil {
			return control
		}
		return err
	}}
	return config.Listen(context.Background(), "tcp", address)
}

// stamped reads a connection and notes when the first bytes of a request
// reached this host's network stack.
type stamped struct {
	raw   syscall.RawConn
	first int64 // by monotonic; zero is none yet
	oob   [64]byte
}

func (s *stamped) Read(p []byte) (int, error) {
	var n, oobn int
	var err error
	if wait := s.raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, err = syscall.Recvmsg(int(fd), p, s.oob[:], 0)
		return err != syscall.EAGAIN
	}); wait != nil {
		return 0, wait
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, net.ErrClosed
	}
	if s.first == 0 {
		s.first = monotonic() - age(s.oob[:oobn])
	}
	return n, nil
}

// age is how long ago the kernel got the bytes; zero where it did not say.
func age(oob []byte) int64 {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == syscall.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			at := int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:]))
			return clock(clockRealtime) - at
		}
	}
	return 0
}
