package sim

import (
	"slices"
	"time"
)

// queue holds the waiting sequences: preempted ones first, then the others by
// the time from which they may be admitted, and then by request id.
type queue struct {
	q    []*sequence
	head int
}

func (w *queue) len() int         { return len(w.q) - w.head }
func (w *queue) front() *sequence { return w.q[w.head] }
func (w *queue) all() []*sequence { return w.q[w.head:] }
func (w *queue) putBack(q *sequence) {
	if w.head == 0 {
		w.q = slices.Insert(w.q, 0, q)
		return
	}
	w.head--
	w.q[w.head] = q
}

func (w *queue) pop() {
	w.q[w.head] = nil
	w.head++
	if w.head == len(w.q) {
		w.q, w.head = w.q[:0], 0
	} else if w.head > 1024 && w.head > len(w.q)/2 {
		n := copy(w.q, w.q[w.head:])
		clear(w.q[n:])
		w.q, w.head = w.q[:n], 0
	}
}

func (w *queue) add(q *sequence) {
	i := len(w.q)
	for i > w.head && w.q[i-1].after(q) {
		i--
	}
	w.q = slices.Insert(w.q, i, q)
}

// after reports whether the waiting sequence s comes after q, which has just
// arrived.
func (s *sequence) after(q *sequence) bool {
	if s.admitted {
		return false // preempted
	}
	return s.ready > q.ready || s.ready == q.ready && s.id > q.id
}

// remove takes out, and returns, what gone is true of.
func (w *queue) remove(gone func(*sequence) bool) []*sequence {
	var out []*sequence
	kept := w.q[:w.head]
	for _, q := range w.all() {
		if gone(q) {
			out = append(out, q)
		} else {
			kept = append(kept, q)
		}
	}
	clear(w.q[len(kept):])
	w.q = kept
	return out
}

// ends are the times at which steps ended, the oldest forgotten.
type ends struct {
	at    []time.Duration
	first int // the step that at[0] is of
}

func (e *ends) add(t time.Duration) { e.at = append(e.at, t) }

// of returns the ends of n steps.
func (e *ends) of(from, n int) []time.Duration { return e.at[from-e.first:][:n] }

// forget drops the ends of the steps before the given one.
func (e *ends) forget(before int) {
	n := copy(e.at, e.at[before-e.first:])
	e.at, e.first = e.at[:n], before
}
