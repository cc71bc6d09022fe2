package sim

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// Model is the engine as arithmetic: it computes when each event would leave,
// without a clock, a goroutine or HTTP. It is stateful as a server is: its
// cache, its noise and its counters go on from one call to the next.
//
// It implements engines.Simulator, which is how to drive it under load, and
// the abilities Flusher, Loader, Scraper, Describer, Logger, Restarter and
// Virtual. Its methods may be called concurrently, and from the callbacks of
// Simulate; only one Simulate or Generate runs at a time.
type Model struct {
	turn sync.Mutex // held by a whole Simulate or Generate
	mu   sync.Mutex // held while the scheduler is touched
	cfg  Config
	s    *scheduler

	offset time.Duration // engine time minus the caller's
	events int           // requests that have ended
	out    func(engines.Outcome)
	chunks []engines.Chunk // all of one token, but for
	counts int             // the index of the last stream's event of counts
	spare  []*sequence
}

// NewModel returns an engine that has started and loaded its model.
func NewModel(cfg Config) (*Model, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	m := &Model{cfg: cfg}
	m.s = newScheduler(cfg, 0, m.ended)
	m.s.keep = true
	return m, nil
}

// Simulate serves arrivals as engines.Simulator says. An arrival that is due
// before the one ahead of it is taken to be due with it; the clock of a later
// call may go on from an earlier one's or begin anew.
func (m *Model) Simulate(arrivals iter.Seq[engines.Arrival], done func(engines.Outcome)) {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.out = done
	defer func() {
		// Nothing is left in flight, unless the driver has panicked.
		m.out = nil
		m.s.abandon()
	}()
	first, latest := true, time.Duration(0)
	for a := range m.unlocked(arrivals) {
		if first {
			m.offset = max(m.offset, m.s.clock-a.At)
			first = false
		}
		if a.Request == nil {
			to := a.At + m.offset
			if a.At == 0 {
				to = math.MaxInt64
			}
			m.wait(to)
			continue
		}
		latest = max(latest, a.At+m.offset)
		m.advance(latest)
		m.submit(a.Request, latest)
	}
	m.advance(math.MaxInt64)
}

// unlocked gives up the model while the caller decides on its next arrival,
// so that it may ask the model for its load and counters.
func (m *Model) unlocked(arrivals iter.Seq[engines.Arrival]) iter.Seq[engines.Arrival] {
	return func(yield func(engines.Arrival) bool) {
		m.mu.Unlock()
		defer m.mu.Lock()
		arrivals(func(a engines.Arrival) bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return yield(a)
		})
	}
}

// advance completes the steps that end by the given time.
func (m *Model) advance(to time.Duration) {
	for m.next(to) {
	}
}

// wait completes steps until a request has ended or the time has come.
func (m *Model) wait(to time.Duration) {
	for events := m.events; m.events == events && m.next(to); {
	}
}

// next completes one step, unless it would end after the given time.
func (m *Model) next(to time.Duration) bool {
	s := m.s
	for s.step.end <= s.clock {
		start, ok := s.nextStart()
		if !ok || start > to {
			return false
		}
		s.begin(start)
	}
	if s.step.end > to {
		return false
	}
	s.end()
	if len(s.ends.at) > 1<<16 {
		s.forget()
	}
	return true
}

// forget drops what no sequence in flight needs of the steps' ends.
func (s *scheduler) forget() {
	oldest := s.steps
	for _, list := range [][]*sequence{s.running, s.queue.all()} {
		for _, q := range list {
			if len(q.segments) > 0 {
				oldest = min(oldest, q.segments[0].from)
			}
		}
	}
	if oldest-s.ends.first > len(s.ends.at)/2 {
		s.ends.forget(oldest)
	}
}

func (m *Model) submit(r *engines.Request, at time.Duration) {
	q := m.sequence()
	q.request, q.id, q.arrival = r, r.ID, at
	tokens := r.Tokens
	if tokens == nil {
		tokens = tokenize(r.Text)
	}
	if err := m.cfg.check(len(tokens), r.MaxTokens, r.MinTokens); err != nil {
		q.last = at
		failure := &engines.Error{Class: engines.Misuse, Message: "sim: " + err.Error()}
		if errors.As(err, new(*tooLong)) { // which only the server can know
			failure.Class, failure.Status = engines.Status, 400
		}
		m.report(q, engines.Reply{Status: failure.Status}, failure)
		return
	}
	if r.CacheSalt != "" && m.cfg.Flavor == TensorRTLLM {
		q.last = at
		m.report(q, engines.Reply{Status: 400}, &engines.Error{Class: engines.Status, Status: 400,
			Message: "generate: status 400: extra inputs are not permitted: cache_salt"})
		return
	}
	salt := r.CacheSalt
	if m.cfg.Faults.IgnoreSalt {
		salt = ""
	}
	q.setPrompt(tokens, salt, m.cfg.BlockTokens)
	q.setLength(r.MaxTokens, r.MinTokens, r.IgnoreEOS, m.cfg.Faults.OutputCut)
	m.s.submit(q)
	if q.state == ended {
		m.ended(q)
	}
}

// Generate serves one request by itself; concurrent calls take turns. It takes
// no time: events are stamped, by the request's clock, as they are computed.
// When they would have come is what Simulate reports.
func (m *Model) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply engines.Reply, err error) {
	sent, first := r.Now(), time.Duration(0)
	if ctx.Err() == nil {
		m.Simulate(func(yield func(engines.Arrival) bool) {
			yield(engines.Arrival{At: sent, Request: r})
		}, func(o engines.Outcome) {
			reply, err = o.Reply, o.Err
			for i, c := range o.Chunks {
				if ctx.Err() != nil {
					break
				}
				if c.At = r.Now(); i == 0 {
					first = c.At
				}
				emit(c)
			}
		})
	}
	reply.Sent, reply.FirstEvent, reply.Closed = sent, first, r.Now()
	if cause := context.Cause(ctx); cause != nil {
		err = &engines.Error{Class: engines.Canceled, Message: "generate: canceled: " + cause.Error(), Err: cause}
	}
	return reply, err
}

func (m *Model) sequence() *sequence {
	n := len(m.spare)
	if n == 0 {
		return &sequence{}
	}
	q := m.spare[n-1]
	m.spare = m.spare[:n-1]
	*q = sequence{keys: q.keys[:0], rest: q.rest[:0], segments: q.segments[:0]}
	return q
}
