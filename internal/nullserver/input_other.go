//go:build !linux

package nullserver

import "net"

// Listen listens on a TCP address, on Linux with the kernel's stamps of arrival
// on every connection. Without them Request.Arrival is when bytes were read.
func Listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// input reads a connection and notes when the first bytes of a request came.
type input struct {
	conn  *net.TCPConn
	first int64 // by Now; zero is none yet
}

func newInput(c *net.TCPConn) (*input, error) { return &input{conn: c}, nil }

func (in *input) Read(p []byte) (int, error) {
	n, err := in.conn.Read(p)
	if n > 0 && in.first == 0 {
		in.first = Now()
	}
	return n, err
}
