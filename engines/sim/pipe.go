package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is how much a connection holds that has not been read before a write
// waits, as a socket's buffers do.
const window = 256 << 10

// half is one direction of an in-memory connection. Unlike net.Pipe's, a
// write does not wait for its reader, which a socket's does not either.
type half struct {
	mu      sync.Mutex
	change  sync.Cond
	buf     []byte
	from    int   // of buf: what has been read
	end     error // what a read gives when all has been read; nil while open
	reading deadline
	writing deadline
}

func newHalf() *half {
	h := &half{}
	h.change.L = &h.mu
	return h
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.from == len(h.buf) {
		switch {
		case h.reading.passed:
			return 0, os.ErrDeadlineExceeded
		case h.end != nil:
			return 0, h.end
		case len(p) == 0:
			return 0, nil
		}
		h.change.Wait()
	}
	n := copy(p, h.buf[h.from:])
	if h.from += n; h.from == len(h.buf) {
		h.buf, h.from = h.buf[:0], 0
	}
	h.change.Broadcast()
	return n, nil
}

func (h *half) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.end != nil:
			return 0, io.ErrClosedPipe
		case h.writing.passed:
			return 0, os.ErrDeadlineExceeded
		case len(h.buf)-h.from < window:
			h.buf = append(h.buf, p...)
			h.change.Broadcast()
			return len(p), nil
		}
		h.change.Wait()
	}
}

// close ends the direction, after what was written or, for a reset, at once.
func (h *half) close(end error, drop bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end == nil {
		h.end = end
	}
	if drop {
		h.buf, h.from, h.end = nil, 0, end
	}
	h.change.Broadcast()
}

// deadline is a time after which reads or writes fail.
type deadline struct {
	passed bool
	timer  *time.Timer
}

// set changes a deadline of the half.
func (h *half) set(d *deadline, t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.passed = false
	if wait := time.Until(t); t.IsZero() {
	} else if wait <= 0 {
		d.passed = true
	} else {
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if d.timer == timer { // else it was changed meanwhile
				d.passed = true
				h.change.Broadcast()
			}
		})
		d.timer = timer
	}
	h.change.Broadcast()
}

// pipeConn is one end of an in-memory connection.
type pipeConn struct{ in, out *half }

func newPipe() (a, b *pipeConn) {
	x, y := newHalf(), newHalf()
	return &pipeConn{x, y}, &pipeConn{y, x}
}

func (c *pipeConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *pipeConn) Write(p []byte) (int, error) { return c.out.write(p) }

// Close lets the other end read what was written.
func (c *pipeConn) Close() error {
	c.out.close(io.EOF, false)
	c.in.close(net.ErrClosed, false)
	return nil
}

// Reset ends the connection as a crash does: the other end reads what arrived
// before it, and then the error of a reset.
func (c *pipeConn) Reset() {
	c.out.close(&net.OpError{Op: "read", Net: "pipe", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, false)
	c.in.close(net.ErrClosed, false)
}

func (c *pipeConn) LocalAddr() net.Addr  { return pipeAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr { return pipeAddr{} }

func (c *pipeConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.set(&c.in.reading, t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.set(&c.out.writing, t)
	return nil
}

// pipeListener accepts in-memory connections.
type pipeListener struct {
	conns chan net.Conn
	shut  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), shut: make(chan struct{})}
}

var errDown = errors.New("the embedded engine is down")

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := newPipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.shut:
		return nil, errDown
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.shut:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.shut) })
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "sim.invalid" }
