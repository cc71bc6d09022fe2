//go:build linux

package nullserver

import (
	"syscall"
	"unsafe"
)

// stream is one reply on its way. Its sender owns it until it ends.
type stream struct {
	fd    int
	id    string
	event event
	sent  int   // events
	next  int64 // when the next one is to be sent, by Now
	due   int64 // when there is something to do: next, or when left is tried again
	left  []byte
	times []int64 // send times, when they are logged
	ended chan error
}

// step sends what is due now and reports whether the stream has ended.
func (s *stream) step(o *Options, end []byte, now int64) (over bool, err error) {
	if len(s.left) > 0 {
		if err := s.flush(); err != nil || len(s.left) > 0 {
			s.due = now + retry
			return false, err
		}
		if s.sent > o.Events {
			return true, nil
		}
		if s.due = s.next; s.due > now {
			return false, nil
		}
	}
	if s.sent == o.Events {
		s.sent++
		s.left = append(s.left, end...)
	} else {
		s.sent++
		s.event.number(s.sent)
		if o.Stamped {
			s.event.stamp(now)
		}
		if o.Logged && s.id != "" {
			s.times = append(s.times, now)
		}
		s.left = append(s.left, s.event.text...)
		if s.sent < o.Events {
			s.next += o.period()
			if o.Rate == 0 {
				s.next = now // streams take turns
			}
		}
	}
	if err := s.flush(); err != nil {
		return false, err
	}
	if len(s.left) > 0 {
		s.due = now + retry
		return false, nil
	}
	s.due = s.next
	return s.sent > o.Events, nil
}

// retry is how long a stream waits whose client does not read.
const retry = int64(1e6)

// flush writes what is left to write, as far as the socket takes it.
func (s *stream) flush() error {
	for len(s.left) > 0 {
		n, _, no := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(s.fd), uintptr(unsafe.Pointer(&s.left[0])), uintptr(len(s.left)))
		switch no {
		case 0:
			s.left = s.left[:copy(s.left, s.left[n:])]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return nil
		default:
			return no
		}
	}
	return nil
}

// queue is a heap of streams by due.
type queue []*stream

func (q *queue) push(s *stream) {
	*q = append(*q, s)
	h, i := *q, len(*q)-1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].due <= h[i].due {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// fix restores the order after the first one's due was changed.
func (q queue) fix() {
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(q); c++ {
			if q[c].due < q[least].due {
				least = c
			}
		}
		if least == i {
			return
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}

// pop takes the first one away.
func (q *queue) pop() {
	h := *q
	h[0] = h[len(h)-1]
	h[len(h)-1] = nil
	*q = h[:len(h)-1]
	q.fix()
}
