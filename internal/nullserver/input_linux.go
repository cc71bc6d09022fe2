package nullserver

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"syscall"
)

// Listen listens on a TCP address, on Linux with the kernel's stamps of arrival
// on every connection. Without them Request.Arrival is when bytes were read.
func Listen(address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			// Connections inherit it, so that their first bytes have it too.
			// Where the kernel refuses there are no stamps.
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
		})
	}}
	return config.Listen(context.Background(), "tcp", address)
}

// input reads a connection and notes when what it reads first of a request
// reached this host's network stack.
//
// Note: a first read of one byte would not tell the first segment's time: TCP
// joins segments that wait to be read and keeps the stamp of the last.
type input struct {
	raw   syscall.RawConn
	first int64 // by Now; zero is none yet
	oob   [64]byte
}

func newInput(c *net.TCPConn) (*input, error) {
	raw, err := c.SyscallConn()
	return &input{raw: raw}, err
}

func (in *input) Read(p []byte) (int, error) {
	var n, oobn int
	var err error
	if wait := in.raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, err = syscall.Recvmsg(int(fd), p, in.oob[:], 0)
		return err != syscall.EAGAIN
	}); wait != nil {
		return 0, wait
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	if in.first == 0 {
		in.first = Now() - age(in.oob[:oobn])
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
			return max(0, kernel(clockRealtime)-at)
		}
	}
	return 0
}
