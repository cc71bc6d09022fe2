package nullserver

// stream is one reply on its way. Its sender owns it until it ends.
type stream struct {
	out   output
	reply reply
	event event
	// tokens is how many events there are, batch how many of them are due at
	// once, and period the time from one batch to the next.
	tokens, batch int
	period        int64
	usage         bool

	sent int   // events
	next int64 // when the next ones are to be sent, by Now
	due  int64 // when there is something to do: next, or when left is tried again
	left []byte
	// request is kept by keep before the last bytes leave; nil is not kept.
	request *Request
	keep    func(r *Request, whole bool)
	ended   chan error
}

// step sends what is due now and reports whether the stream has ended.
func (s *stream) step(now int64) (over bool, err error) {
	if len(s.left) > 0 {
		if err := s.flush(now); err != nil || len(s.left) > 0 {
			return false, err
		}
		if s.sent == s.tokens {
			return true, nil
		}
		if s.due = s.next; s.due > now {
			return false, nil
		}
	}
	n := min(s.batch, s.tokens-s.sent)
	if n == 1 && s.sent+1 < s.tokens {
		// The usual case: the event is written from where it stands.
		s.count(now)
		s.event.fill(s.sent)
		written, err := s.out.write(s.event.text)
		if err != nil {
			return false, err
		}
		s.later(now, s.event.text[written:])
		return false, nil
	}
	s.fill(n, now)
	if err := s.flush(now); err != nil || len(s.left) > 0 {
		return false, err
	}
	return s.sent == s.tokens, nil
}

// count takes note of one more event.
func (s *stream) count(now int64) {
	s.sent++
	if s.request != nil {
		s.request.Sent = append(s.request.Sent, now)
	}
}

// fill appends n events to what is to be written, and what follows the last.
func (s *stream) fill(n int, now int64) {
	for range n {
		s.count(now)
		if s.sent == s.tokens {
			s.event = newEvent(&s.reply, true)
		}
		s.event.fill(s.sent)
		s.left = append(s.left, s.event.text...)
	}
	if s.sent == s.tokens {
		s.left = append(s.left, s.reply.ending(s.tokens, s.usage)...)
		if s.request != nil {
			s.keep(s.request, true) // before the client can see the end
		}
	}
	s.next += s.period * int64(n)
	s.due = s.next
}

// later keeps what the connection has not taken.
func (s *stream) later(now int64, left []byte) {
	s.next += s.period
	s.due = s.next
	if len(left) > 0 {
		s.left = append(s.left[:0], left...)
		s.due = now + retry
	}
}

// retry is how long a stream waits whose client does not read.
const retry = int64(1e6)

// flush writes what is left to write, as far as the connection takes it.
func (s *stream) flush(now int64) error {
	n, err := s.out.write(s.left)
	if err != nil {
		return err
	}
	if s.left = s.left[:copy(s.left, s.left[n:])]; len(s.left) > 0 {
		s.due = now + retry
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
