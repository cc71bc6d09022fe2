package benchtest

import (
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// simulation offers one load to an engine that computes. It makes the same
// decisions as a pass, at the same times, without a clock or a goroutine.
type simulation struct {
	load
	engine  engines.Simulator
	flights []*flight
	flying  map[*engines.Request]*flight
	onEdge  func() edge
	edges   [2]edge

	// ends counts the requests that have ended; free are the slots of a
	// closed loop that they left since the sequence last looked, and lastFree is
	// when the latest of them ended.
	ends     int
	free     []slot
	lastFree time.Duration
	over     bool
	opened   bool
	closed   bool
	from, to time.Duration
	// counted is how many requests of the window have not ended.
	counted int
	lastEnd time.Duration
	err     error
}

// run offers the load; its outcome is that of a pass.
func (s *simulation) run() (out outcome) {
	s.flying = map[*engines.Request]*flight{}
	defer func() {
		if v := recover(); v != nil {
			s.err = fmt.Errorf("benchtest: panic in Simulate: %v\n%s", v, debug.Stack())
		}
		out = outcome{flights: s.flights, from: s.from, to: s.to, edges: s.edges, cut: s.err}
		for _, f := range s.flights {
			out.capped = out.capped || f.line.Failure == failCapped
		}
	}()
	s.engine.Simulate(s.arrivals(), s.done)
	for _, f := range s.flights {
		if !f.ended && s.err == nil {
			s.err = fmt.Errorf("benchtest: Simulate returned with request %s not done", f.line.ID)
		}
	}
	return out
}

func (s *simulation) arrivals() iter.Seq[engines.Arrival] {
	return func(yield func(engines.Arrival) bool) {
		if s.inFlight > 0 {
			s.closedLoop(yield)
		} else {
			s.openLoop(yield)
		}
		s.over = true
	}
}

func (s *simulation) openLoop(yield func(engines.Arrival) bool) {
	for d := range s.dues() {
		if d.phase == metric.Cooldown && !s.closed {
			s.closed, s.to = true, d.at
			if !s.come(yield, d.at) {
				return
			}
			s.edges[1] = s.onEdge()
		}
		if s.closed && (!s.come(yield, d.at) || s.enough(d.at)) {
			return
		}
		if d.phase == metric.Window && !s.opened {
			s.opened, s.from = true, d.at
			if !s.come(yield, d.at) {
				return
			}
			s.edges[0] = s.onEdge()
		}
		if !s.send(yield, d, d.at) {
			return
		}
	}
}

// come lets the engine's clock come to at. While requests end before that,
// the engine pulls again, so it is there when none has ended in between. It
// returns early when enough has been seen.
func (s *simulation) come(yield func(engines.Arrival) bool, at time.Duration) bool {
	for before := -1; before != s.ends; {
		before = s.ends
		if !yield(engines.Arrival{At: at}) {
			return false
		}
		if s.closed && s.enough(at) {
			return true
		}
	}
	return true
}

// enough is that of a pass.
func (s *simulation) enough(at time.Duration) bool {
	return s.counted == 0 && s.lastEnd < at || at > s.cutAt()
}

func (s *simulation) cutAt() time.Duration {
	if s.closed {
		return s.to + s.drain
	}
	if n := len(s.flights); s.over && n > 0 {
		return s.flights[n-1].line.Scheduled + s.drain
	}
	return 1<<63 - 1
}

// send builds the request that is due and yields it, after its wait for a
// slot of the client's limit; at is when it can be sent at the earliest.
func (s *simulation) send(yield func(engines.Arrival) bool, d due, at time.Duration) bool {
	f, err := s.build(d.index)
	if err != nil {
		s.err = err
		return false
	}
	f.due(d.at, d.phase)
	if s.maxInFlight > 0 && !s.come(yield, d.at) {
		return false
	}
	s.flights = append(s.flights, f)
	if n := s.openAt(d.at); s.maxInFlight > 0 && n >= s.maxInFlight {
		f.fail(failCapped, fmt.Sprintf("not sent: %d in flight, Point.MaxInFlight is %d", n, s.maxInFlight))
		return true
	}
	if d.phase == metric.Window {
		s.counted++
	}
	if s.clientLimit > 0 {
		for len(s.flying) >= s.clientLimit {
			before := s.ends
			if !yield(engines.Arrival{}) {
				return false
			}
			if s.ends == before {
				s.err = fmt.Errorf("benchtest: Simulate pulled on although %d requests were in flight and none had ended", len(s.flying))
				return false
			}
		}
		at = max(at, s.lastFree)
		f.line.Released = at
	}
	s.flying[&f.request] = f
	return yield(engines.Arrival{At: at, Request: &f.request})
}

// openAt is how many requests sent or waiting before have not ended at the
// given time.
func (s *simulation) openAt(at time.Duration) int {
	if s.maxInFlight == 0 {
		return 0
	}
	n := 0
	for _, f := range s.flights[:len(s.flights)-1] {
		if !f.ended || f.line.Closed > at {
			n++
		}
	}
	return n
}

// closedLoop sends into slots as they become free, those of one instant
// together and a nanosecond later, as a pass does in virtual time.
func (s *simulation) closedLoop(yield func(engines.Arrival) bool) {
	deal := phases{settle: s.settle, requests: s.requests, window: s.window}
	free := make([]slot, s.inFlight)
	for i := range free {
		free[i] = slot{lead, i}
	}
	for sent, wait := 0, time.Duration(0); len(free) > 0; wait = 1 {
		for _, slot := range free {
			if s.warmup > 0 && sent >= s.warmup {
				return
			}
			phase := metric.Settle
			if s.warmup == 0 {
				phase = deal.next(slot.at)
			}
			if phase == metric.Cooldown && !s.closed {
				s.closed, s.to = true, slot.at
				s.edges[1] = s.onEdge()
			}
			if s.closed && s.counted == 0 {
				return
			}
			if phase == metric.Window && !s.opened {
				s.opened, s.from = true, slot.at
				s.edges[0] = s.onEdge()
			}
			if !s.send(yield, due{sent, slot.at, phase}, slot.at+wait) {
				return
			}
			sent++
		}
		free = s.nextFree(yield)
	}
}

// nextFree lets the engine go on until requests end, and past the instant at
// which they do.
func (s *simulation) nextFree(yield func(engines.Arrival) bool) []slot {
	s.free = s.free[:0]
	for len(s.free) == 0 {
		before := s.ends
		if !yield(engines.Arrival{}) {
			return nil
		}
		if s.ends == before {
			s.err = fmt.Errorf("benchtest: Simulate pulled on although %d requests were in flight and none had ended", len(s.flying))
			return nil
		}
	}
	instant := s.free[len(s.free)-1].at
	if s.closed && instant > s.cutAt() || !s.come(yield, instant+1) {
		return nil
	}
	free := append([]slot(nil), s.free...)
	sortSlots(free)
	return free
}

// done takes a request that has ended. What it did after the drain limit is
// cut off, as a pass would have.
func (s *simulation) done(o engines.Outcome) {
	f := s.flying[o.Request]
	if f == nil {
		panic("an outcome of a request that was not in flight")
	}
	delete(s.flying, o.Request)
	cut := s.cutAt()
	late := o.Reply.Closed > cut
	for _, c := range o.Chunks {
		if !late || c.At <= cut {
			f.emit(c)
		}
	}
	if late {
		reply := engines.Reply{Sent: o.Reply.Sent, Closed: cut}
		if o.Reply.FirstEvent <= cut {
			reply.FirstEvent = o.Reply.FirstEvent
		}
		f.end(reply, &engines.Error{Class: engines.Canceled}, errDrained, s.model)
	} else {
		f.end(o.Reply, o.Err, nil, s.model)
	}
	f.ended = true
	f.request.Tokens, f.request.Text = nil, ""
	s.ends++
	s.lastFree = max(s.lastFree, f.line.Closed)
	if s.inFlight > 0 {
		s.free = append(s.free, slot{f.line.Closed, f.index})
	}
	if f.line.Phase == metric.Window {
		s.counted--
		s.lastEnd = max(s.lastEnd, f.line.Closed)
	}
}
