package servertest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Pipes is a listener in memory, so that time in a test may be virtual.
type Pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// Listen returns a listener that nobody has dialled yet.
func Listen() *Pipes {
	return &Pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener.
func (p *Pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return socket{ours}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// socket is a pipe that takes what is written as a socket's buffer does: that
// the other side has closed shows where the answer is read. A pipe fails a
// write that was read in part, which net/http takes for a request that may have
// been done, and does not send again.
type socket struct{ net.Conn }

// Write implements net.Conn.
func (s socket) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	if errors.Is(err, io.ErrClosedPipe) {
		return len(p), nil
	}
	return n, err
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }
