//go:build linux && (amd64 || arm64)

package openai

import (
	"context"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// newDirect is the direct transport's pool for an engine that it can serve:
// plain HTTP over TCP, without a proxy. TLS, proxies and connections from
// elsewhere (Config.Dial) go through net/http.
func newDirect(e *Engine) *pool {
	return directOver(e, min(max(runtime.GOMAXPROCS(0)/4, 1), 8))
}

// directOver is newDirect with a number of loops.
func directOver(e *Engine, n int) *pool {
	if e.route.Scheme != "http" || e.cfg.Dial != nil || e.cfg.Proxy != nil || e.cfg.HTTP2 {
		return nil
	}
	loops := make([]*loop, n)
	for i := range loops {
		loops[i] = &loop{}
	}
	p := &pool{habit: habit{seen: make(chan struct{})}}
	p.dial = func(ctx context.Context) (*wire, error) {
		c, slow, err := e.transport.open(ctx, "tcp", e.transport.address)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		s, err := newSocket(c.(*net.TCPConn))
		if err != nil {
			return nil, err
		}
		s.wire.pool, s.wire.carrier, s.wire.habit, s.wire.slow = p, s, &p.habit, slow
		least := loops[0]
		for _, l := range loops[1:] {
			if l.load.Load() < least.load.Load() {
				least = l
			}
		}
		if err := least.add(s); err != nil {
			syscall.Close(s.fd)
			return nil, err
		}
		return &s.wire, nil
	}
	return p
}

// socket is the carrier of a wire whose bytes a loop reads.
type socket struct {
	fd int
	// read is when it was last read empty, by elapsed, at first when it was made;
	// only the loop uses it.
	read time.Duration
	// sending is true while left may not be empty. It is set before the first
	// write, so that no sign of room is missed.
	sending atomic.Bool
	wire    wire

	local, remote net.Addr
	// left is what the connection has not taken of a request; the wire's mu
	// guards it.
	left []byte
}

// newSocket takes a connection over from package net: what it dialled is good,
// but its poller would be woken beside ours by every packet. The descriptor is
// a copy; the caller closes the original, which takes it out of that poller.
func newSocket(c *net.TCPConn) (*socket, error) {
	s := &socket{fd: -1, read: elapsed(), local: c.LocalAddr(), remote: c.RemoteAddr()}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var no syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		var n uintptr
		n, _, no = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_DUPFD_CLOEXEC, 0)
		s.fd = int(n)
	}); err != nil {
		return nil, err
	}
	if no != 0 {
		return nil, s.failed("dial", "fcntl", no)
	}
	// Where the kernel refuses, times are those of reading.
	keepStamping()
	_ = syscall.SetsockoptInt(s.fd, syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	return s, nil
}

// keepStamping has the kernel stamp packets from the first connection on. It
// begins some time after a first socket asks for it, ends with the last, and
// meanwhile gives the time of reading for that of arrival: one socket that asks
// for as long as the program runs keeps it at work.
var keepStamping = sync.OnceFunc(func() {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	}
})

// failed is an error in package net's words.
func (s *socket) failed(op, call string, no syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Source: s.local, Addr: s.remote, Err: os.NewSyscallError(call, no)}
}

// send implements carrier.
func (s *socket) send(b []byte) {
	s.left = b
	s.sending.Store(true)
	s.flush()
}

// flush sends what is left, as far as the connection takes it; the loop calls
// it again when there is room. An error is left to reading, which may still
// find the server's answer, and what could not be sent stays unsent.
func (s *socket) flush() {
	for len(s.left) > 0 {
		raceSends(s.fd)
		n, _, no := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(s.fd),
			uintptr(unsafe.Pointer(&s.left[0])), uintptr(len(s.left)), syscall.MSG_NOSIGNAL, 0, 0)
		switch no {
		case 0:
			s.left = s.left[n:]
		case syscall.EINTR:
		default: // there is no room, or it failed
			return
		}
	}
	s.left = nil
	s.sending.Store(false)
}

// cut implements carrier.
func (s *socket) cut() { _ = syscall.Shutdown(s.fd, syscall.SHUT_RDWR) }

// unsent implements carrier.
func (s *socket) unsent() bool { return len(s.left) > 0 }

// spent implements carrier.
func (s *socket) spent() bool {
	var b [1]byte
	for {
		_, _, no := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(s.fd), uintptr(unsafe.Pointer(&b[0])), 1,
			syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
		if no != syscall.EINTR {
			return no != syscall.EAGAIN
		}
	}
}

// room is called when the connection may take more.
func (s *socket) room() {
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	if len(s.left) > 0 && !s.wire.closed {
		s.flush()
	}
}
