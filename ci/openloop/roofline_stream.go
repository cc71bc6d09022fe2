package main

import (
	"container/heap"
	"net"
	"time"
)

// nullStream is a stream with events left to send.
type nullStream struct {
	conn  net.Conn
	id    string
	left  int
	every time.Duration
	due   time.Time
	sent  []int64
	done  chan struct{}
}

// push sends the event that is due; false when the stream has ended.
func (st *nullStream) push(now time.Time) bool {
	st.sent = append(st.sent, now.UnixNano())
	if _, err := st.conn.Write(nullEvent); err != nil {
		return false
	}
	st.due = st.due.Add(st.every)
	if st.left--; st.left > 0 {
		return true
	}
	_, _ = st.conn.Write(nullEnd(len(st.sent)))
	return false
}

// nullQueue is a heap of streams by when they are due.
type nullQueue []*nullStream

func (q nullQueue) Len() int           { return len(q) }
func (q nullQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q nullQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *nullQueue) Push(x any)        { *q = append(*q, x.(*nullStream)) }
func (q *nullQueue) Pop() any {
	last := len(*q) - 1
	st := (*q)[last]
	(*q)[last], *q = nil, (*q)[:last]
	return st
}

// send sends the events of all streams when they are due, on one goroutine:
// each with a write of its own, as a server does that flushes each token.
func (s *nullServer) send(quit <-chan struct{}) {
	var q nullQueue
	timer := time.NewTimer(time.Hour)
	for {
		s.mu.Lock()
		for _, st := range s.fresh {
			heap.Push(&q, st)
		}
		s.fresh = s.fresh[:0]
		s.mu.Unlock()
		now := time.Now()
		for sent := 0; len(q) > 0 && !q[0].due.After(now) && sent < 256; sent++ {
			if st := q[0]; st.push(time.Now()) {
				heap.Fix(&q, 0)
			} else {
				heap.Pop(&q)
				s.keep(st.id, st.sent)
				close(st.done)
			}
		}
		next := time.Hour
		if len(q) > 0 {
			next = time.Until(q[0].due)
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-s.wake:
		case <-quit:
			return
		}
	}
}
