package benchtest

import (
	"fmt"
	"iter"
	"math"
	"runtime/debug"
	"slices"
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
	// clock is how far the engine's clock is known to have come.
	clock    time.Duration
	opened   bool
	closed   bool
	from, to time.Duration
	// counted is how many requests of the window have not ended.
	counted int
	lastEnd time.Duration
	bound   bound
	// probes are those beside the load, flyingProbes those in flight, and
	// probeEnds is how many have ended.
	probes       []*flight
	flyingProbes map[*engines.Request]*flight
	probeEnds    int
	// shutAt is when no probe is due any more.
	shutAt time.Duration
	err    error
}

// run offers the load; its outcome is that of a pass.
func (s *simulation) run() (out outcome) {
	s.flying, s.flyingProbes = map[*engines.Request]*flight{}, map[*engines.Request]*flight{}
	s.bound = newBound(s.load)
	defer func() {
		if v := recover(); v != nil {
			s.err = fmt.Errorf("benchtest: panic in Simulate: %v\n%s", v, debug.Stack())
		}
		out = outcome{flights: s.flights, probes: s.probes, from: s.from, to: s.to, edges: s.edges, bounded: s.bound.warning(), cut: s.err}
	}()
	s.engine.Simulate(s.arrivals(), s.done)
	for _, f := range slices.Concat(s.flights, s.probes) {
		if !f.ended && s.err == nil {
			s.err = fmt.Errorf("benchtest: Simulate returned with request %s not done", f.line.ID)
		}
	}
	return out
}

func (s *simulation) arrivals() iter.Seq[engines.Arrival] {
	return func(yield func(engines.Arrival) bool) {
		if s.probeRate > 0 {
			yield = s.withProbes(yield)
			if s.shutAt = math.MaxInt64; s.inFlight == 0 {
				s.shutAt = s.probesUntil()
			}
		}
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
// returns early when enough has been seen. A time in the past is not asked
// for, because a wait for it would have no limit.
func (s *simulation) come(yield func(engines.Arrival) bool, at time.Duration) bool {
	for before := -1; before != s.ends && s.clock < at; {
		before = s.ends
		if !yield(engines.Arrival{At: at}) {
			return false
		}
		if s.closed && s.enough(at) {
			return true
		}
	}
	s.clock = max(s.clock, at)
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
				s.err = s.pulledOn()
				return false
			}
		}
		at = max(at, s.lastFree)
		f.line.Released = release(d.at, at)
	}
	s.flying[&f.request] = f
	s.clock = max(s.clock, at)
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

// done takes a request that has ended.
func (s *simulation) done(o engines.Outcome) {
	f := s.flying[o.Request]
	if f == nil && s.doneProbe(o) {
		return
	}
	if f == nil {
		panic("an outcome of a request that was not in flight")
	}
	delete(s.flying, o.Request)
	s.take(f, o)
	s.bound.ended(&f.line)
	s.ends++
	s.clock = max(s.clock, o.Reply.Closed)
	s.lastFree = max(s.lastFree, f.line.Closed)
	if s.inFlight > 0 {
		s.free = append(s.free, slot{f.line.Closed, f.index})
	}
	if f.line.Phase == metric.Window {
		s.counted--
		s.lastEnd = max(s.lastEnd, f.line.Closed)
	}
}

// take writes down what became of a request. What it did after the drain limit
// is cut off, as a pass would have.
func (s *simulation) take(f *flight, o engines.Outcome) {
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
	f.drop()
}
