package nullserver

import (
	"net"
	"runtime"
	"sync"
)

// sender is a thread that sends for many streams.
type sender struct {
	mu     sync.Mutex
	fresh  []*stream // not yet taken
	closed bool
	wake   chan struct{}
}

func newSender() *sender { return &sender{wake: make(chan struct{}, 1)} }

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

// stop has run end all streams and return.
func (s *sender) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.rouse()
}

// rouse wakes the sender where it waits for its first stream.
func (s *sender) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run sends until it is stopped.
func (s *sender) run() {
	runtime.LockOSThread()
	sharpen()
	const look = int64(1e6) // how often new streams are looked for, at least
	var q queue
	for {
		if len(q) == 0 {
			<-s.wake
		}
		s.mu.Lock()
		for _, st := range s.fresh {
			q.push(st)
		}
		clear(s.fresh)
		s.fresh = s.fresh[:0]
		closed := s.closed
		s.mu.Unlock()
		if closed {
			for _, st := range q {
				st.ended <- net.ErrClosed
			}
			return
		}
		for until := Now() + look; len(q) > 0; {
			now, first := Now(), q[0]
			if now >= until {
				break
			}
			if first.due > now {
				sleepUntil(min(first.due, until))
				continue
			}
			over, err := first.step(now)
			if !over && err == nil {
				q.fix()
				continue
			}
			q.pop()
			first.ended <- err
		}
	}
}
