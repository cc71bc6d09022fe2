//go:build linux && (amd64 || arm64)

package openai

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	edge = 1 << 31 // EPOLLET, which package syscall has as a negative number
	// interest is what a loop is told of a socket. With edges, one that has
	// been read empty costs nothing until more comes.
	interest = syscall.EPOLLIN | syscall.EPOLLOUT | syscall.EPOLLRDHUP | edge
	// ending are the signs that the other side has closed.
	ending = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR

	batch    = 256
	readSize = 64 << 10
	pageSize = 1 << 10
)

// loop reads for the sockets that were added to it. Its goroutine runs while
// there are any.
type loop struct {
	load atomic.Int64 // sockets

	mu   sync.Mutex // guards adding, and starting and stopping
	gate *gate      // nil while the loop is not running

	// sockets by descriptor, in pages, so that adding one moves no other.
	pages [1 << 10]atomic.Pointer[[pageSize]atomic.Pointer[socket]]

	// What follows is the goroutine's.
	events  [batch]syscall.EpollEvent
	n, next int // events of this batch, and the one to take next
	now     time.Duration
	wall    int64 // at now, by the wall clock
	// quiet is a time at which no socket had bytes that were not read, or whose
	// event of this batch was still to be served.
	quiet   time.Duration
	serving *socket
	// served is the events since a time, gathers whether they were many, and
	// stamped whether the kernel gives their times.
	served  int
	since   time.Duration
	gathers bool
	stamped bool
	buf     [readSize]byte
	control [128]byte
	iov     syscall.Iovec
	header  syscall.Msghdr
}

// at is the place of a descriptor's socket; nil when it is out of range.
func (l *loop) at(fd int) *atomic.Pointer[socket] {
	if fd < 0 || fd >= pageSize*len(l.pages) {
		return nil
	}
	page := &l.pages[fd/pageSize]
	if page.Load() == nil {
		page.CompareAndSwap(nil, new([pageSize]atomic.Pointer[socket]))
	}
	return &page.Load()[fd%pageSize]
}

// add begins to read for a socket.
func (l *loop) add(s *socket) error {
	fd := s.fd // the loop's from the moment that it has its place
	place := l.at(fd)
	if place == nil {
		return s.failed("dial", "epoll_ctl", syscall.EMFILE)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gate == nil {
		g, err := openGate()
		if err != nil {
			return &net.OpError{Op: "dial", Net: "tcp", Source: s.local, Addr: s.remote, Err: err}
		}
		l.gate = g
		go l.run()
	}
	place.Store(s)
	if err := l.gate.add(fd); err != nil {
		place.Store(nil)
		return s.failed("dial", "epoll_ctl", err.(syscall.Errno))
	}
	l.load.Add(1)
	return nil
}

// run serves the sockets until there are none. It goes on where it stopped
// when a call's emit has panicked.
func (l *loop) run() {
	clean := false
	defer func() {
		if clean {
			return // the loop is another goroutine's by now, if anybody's
		}
		s := l.serving
		if s == nil {
			return // a panic of the loop's own goes on
		}
		v := recover()
		l.serving = nil
		s.wire.threw(v, v == nil)
		l.drop(s)
		go l.run()
	}()
	l.iov.Base, l.iov.Len = &l.buf[0], readSize
	for l.more() {
		for l.next < l.n {
			e := &l.events[l.next]
			l.next++
			if place := l.at(int(e.Fd)); place != nil {
				if s := place.Load(); s != nil {
					l.ready(s, e.Events)
				}
			}
		}
	}
	clean = true
}

// more waits for events; false when the last socket has gone.
func (l *loop) more() bool {
	if l.next < l.n {
		return true // of a batch that a panic interrupted
	}
	if l.load.Load() == 0 && l.stop() {
		return false
	}
	if l.busy() {
		if err := l.gate.pause(gather); err != nil {
			panic("openai: pause: " + err.Error())
		}
	}
	if l.n < batch {
		l.quiet = l.now // the poll before this one told of all
	}
	waited := false
	for l.next, l.n = 0, l.gate.poll(&l.events); l.n == 0; l.n = l.gate.poll(&l.events) {
		waited = true
		if err := l.gate.wait(); err != nil {
			panic("openai: wait for events: " + err.Error())
		}
	}
	now := time.Now()
	l.now, l.wall = now.Sub(epoch), now.UnixNano()
	if waited {
		l.quiet = l.now
	}
	return true
}

// stop ends the loop unless a socket has been added.
func (l *loop) stop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.load.Load() > 0 {
		return false
	}
	l.gate.close()
	l.gate = nil
	return true
}

// ready reads a socket empty.
func (l *loop) ready(s *socket, events uint32) {
	if events&syscall.EPOLLOUT != 0 && s.sending.Load() {
		s.room()
	}
	for {
		n, no := l.receive(s.fd)
		switch {
		case no == syscall.EINTR:
			continue
		case no == syscall.EAGAIN:
			return
		}
		var open bool
		l.serving = s
		switch {
		case no != 0:
			s.wire.lost(s.failed("read", "read", no))
		case n == 0:
			s.wire.lost(nil)
		default:
			open = s.wire.took(l.buf[:n], l.arrived(s, n))
		}
		l.serving = nil
		if !open {
			l.drop(s)
			return
		}
		if n < readSize && events&ending == 0 {
			return
		}
	}
}

// receive reads once, with the kernel's time of what it reads.
func (l *loop) receive(fd int) (int, syscall.Errno) {
	l.header = syscall.Msghdr{Iov: &l.iov, Iovlen: 1, Control: &l.control[0], Controllen: uint64(len(l.control))}
	n, _, no := syscall.RawSyscall(syscall.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&l.header)), 0)
	raceReceived(fd)
	return int(n), no
}

// drop closes a socket whose wire is closed.
func (l *loop) drop(s *socket) {
	s.wire.mu.Lock()
	l.at(s.fd).Store(nil)
	_ = syscall.Close(s.fd)
	s.fd = -1
	s.wire.mu.Unlock()
	l.load.Add(-1)
}
