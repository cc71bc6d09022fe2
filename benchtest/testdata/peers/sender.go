//go:build linux

package main

import (
	"container/heap"
	"net"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// stream is one reply on its way. Its sender owns it until it ends.
type stream struct {
	request *request
	ask     asked
	number  int
	fd      int
	conn    net.Conn // kept open by who waits for ended
	due     int64
	left    []byte
	ended   chan error
}

func newStream(c net.Conn, raw syscall.RawConn, q *request, ask asked, number int) (*stream, error) {
	st := &stream{request: q, ask: ask, number: number, conn: c, ended: make(chan error, 1)}
	q.Sent = make([]int64, 0, ask.MaxTokens)
	return st, raw.Control(func(fd uintptr) { st.fd = int(fd) })
}

// retry is how long a stream waits whose client does not read.
const retry = int64(time.Millisecond)

// step writes what is due now. An event's time is taken just before its write.
func (s *stream) step(period int64) (over bool, err error) {
	if len(s.left) == 0 {
		token, usage := len(s.request.Sent)+1, s.ask.StreamOptions.ContinuousUsageStats
		last := token == s.ask.MaxTokens
		text := chunk(event(s.number, token, last, usage))
		if last {
			text += chunk(ending(s.number, token, s.ask.StreamOptions.IncludeUsage)) + "0\r\n\r\n"
		}
		s.left = append(s.left, text...)
		s.request.Sent = append(s.request.Sent, monotonic())
		s.due += period
	}
	if err := s.flush(); err != nil {
		return false, err
	}
	if len(s.left) > 0 {
		s.due = max(s.due, monotonic()+retry)
		return false, nil
	}
	return len(s.request.Sent) == s.ask.MaxTokens, nil
}

// flush writes what is left to write, as far as the socket takes it.
func (s *stream) flush() error {
	for len(s.left) > 0 {
		n, err := syscall.Write(s.fd, s.left)
		switch err {
		case nil:
			s.left = s.left[:copy(s.left, s.left[n:])]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return nil
		default:
			return err
		}
	}
	return nil
}

// sender is the one thread that sends for all streams.
type sender struct {
	mu     sync.Mutex
	fresh  []*stream
	closed bool
	wake   chan struct{}
	gone   chan struct{}
}

func newSender() *sender {
	return &sender{wake: make(chan struct{}, 1), gone: make(chan struct{})}
}

// start hands a stream over; false when the sender has been stopped.
func (s *sender) start(st *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.fresh = append(s.fresh, st)
	s.rouse()
	return true
}

func (s *sender) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// stop ends all streams and waits until the sender is gone.
func (s *sender) stop() {
	s.mu.Lock()
	s.closed = true
	s.rouse()
	s.mu.Unlock()
	<-s.gone
}

// run sends until it is stopped. It looks for new streams every millisecond,
// which is sooner than any first event is due.
func (s *sender) run(period time.Duration) {
	runtime.LockOSThread()
	sharpen()
	defer close(s.gone)
	var q queue
	for {
		if len(q) == 0 {
			<-s.wake
		}
		s.mu.Lock()
		for _, st := range s.fresh {
			heap.Push(&q, st)
		}
		s.fresh = s.fresh[:0]
		closed := s.closed
		s.mu.Unlock()
		if closed {
			for _, st := range q {
				st.ended <- net.ErrClosed
			}
			return
		}
		for until := monotonic() + int64(time.Millisecond); len(q) > 0; {
			now, first := monotonic(), q[0]
			if now >= until {
				break
			}
			if first.due > now {
				sleepUntil(min(first.due, until))
				continue
			}
			over, err := first.step(int64(period))
			if !over && err == nil {
				heap.Fix(&q, 0)
				continue
			}
			heap.Pop(&q)
			first.request.Whole = over
			first.ended <- err
		}
	}
}

// queue is a heap of streams by due.
type queue []*stream

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due < q[j].due }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*stream)) }
func (q *queue) Pop() any {
	h := *q
	x := h[len(h)-1]
	h[len(h)-1] = nil
	*q = h[:len(h)-1]
	return x
}
