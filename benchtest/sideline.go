package benchtest

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// The probes beside a load go by a schedule of their own, outside of every
// limit, and are booked apart; see Point.ProbeRate.

// probePrompt is the length of a probe's prompt, in tokens.
const probePrompt = 16

// maxProbeRate is what is still beside a load, in probes a second.
const maxProbeRate = 100

// probeDue is when probe i is due. The first comes half a gap after the load
// begins, and each a nanosecond late, so that none is due at the instant at
// which a load of round numbers opens or closes its window.
func (l *load) probeDue(i int) time.Duration {
	return lead + time.Duration((float64(i)+0.5)/l.probeRate*float64(time.Second)) + 1
}

// buildProbe makes probe i.
func (l *load) buildProbe(i int) (*flight, error) {
	f, err := l.make(probing{l.workload}, l.id+"p", i, seeds{shape: derive("probe"), content: derive("probe", l.seeds.content)})
	if err == nil {
		f.due(l.probeDue(i), metric.Probe)
	}
	return f, err
}

// probing makes prompts of the end of those of a workload, which is what they
// share with no other, and asks for one token.
type probing struct{ of Workload }

func (w probing) Request(i int, shape, content uint64) engines.Request {
	r := w.of.Request(i, shape, content)
	if r.Tokens != nil {
		r.Tokens = r.Tokens[max(0, len(r.Tokens)-probePrompt):]
	} else {
		r.Text = fmt.Sprintf("Answer probe %016x with one word.", derive("text", content, uint64(i)))
	}
	r.MaxTokens, r.MinTokens = 1, min(r.MinTokens, 1)
	return r
}

// probe sends the probes of a load until it is over.
func (p *pass) probe() {
	defer p.recovered("the workload, making a probe")
	w := newWaiter(p.origin, p.virtual)
	defer w.close()
	for i := 0; ; i++ {
		f, err := p.buildProbe(i)
		if err != nil {
			p.crashWith(err)
			return
		}
		at := f.line.Scheduled
		w.until(p.life, at, p.shut)
		if p.probed(at) {
			return
		}
		w.until(p.life, at, nil) // it was shut early, for a later time
		if !p.launchProbe(f) {
			return
		}
	}
}

// probed reports whether no probe is to be sent at the given time any more.
func (p *pass) probed(at time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over || p.life.Err() != nil || p.closed && at >= p.to
}

// launchProbe sends a probe on its way; false when the load is over.
func (p *pass) launchProbe(f *flight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.life.Err() != nil {
		return false
	}
	f.request.Stamp = p.now
	p.probes = append(p.probes, f)
	p.working()
	p.probing++
	go func() {
		defer p.finishProbe(f)
		p.stream(f)
	}()
	return true
}

func (p *pass) finishProbe(f *flight) {
	p.hearing.heard(p.now())
	p.mu.Lock()
	defer p.mu.Unlock()
	f.ended = true
	f.drop()
	p.probing--
	p.signal()
}

// withProbes is a yield that sends the probes due in between, as a pass does.
func (s *simulation) withProbes(yield func(engines.Arrival) bool) func(engines.Arrival) bool {
	return func(a engines.Arrival) bool {
		for {
			at := s.probeDue(len(s.probes))
			none := at >= s.shutAt || s.closed && at >= s.to
			wait := a.Request == nil
			switch later := none || a.At > 0 && at > a.At; {
			case later && !wait:
				return yield(a)
			case later:
				again, more := s.await(yield, a)
				if !again {
					return more
				}
				continue
			case wait && s.clock < at:
				before := s.ends
				again, more := s.await(yield, engines.Arrival{At: at})
				if !more || s.ends != before {
					return more
				}
				if again {
					continue
				}
			}
			if !s.sendProbe(yield) {
				return false
			}
		}
	}
}

// probesUntil is when the last probe of an open load may be due, at the end of
// its window or its warmup. It is computed beforehand, because with a limit on
// the client's side this sequence is behind the schedule.
func (l *load) probesUntil() time.Duration {
	var last time.Duration
	for d := range l.dues() {
		if d.phase == metric.Cooldown {
			return d.at
		}
		last = d.at
	}
	return last + 1
}

// await yields a wait; again is true when only a probe has ended, which is not
// what the load waits for, and more is what yield returned.
func (s *simulation) await(yield func(engines.Arrival) bool, wait engines.Arrival) (again, more bool) {
	ends, probes := s.ends, s.probeEnds
	if more = yield(wait); !more {
		return false, false
	}
	return s.ends == ends && s.probeEnds != probes && (wait.At == 0 || s.clock < wait.At), true
}

// sendProbe sends the next probe, which is due.
func (s *simulation) sendProbe(yield func(engines.Arrival) bool) bool {
	f, err := s.buildProbe(len(s.probes))
	if err != nil {
		s.err = err
		return false
	}
	s.probes = append(s.probes, f)
	s.flyingProbes[&f.request] = f
	s.clock = max(s.clock, f.line.Scheduled)
	return yield(engines.Arrival{At: f.line.Scheduled, Request: &f.request})
}

// doneProbe takes a probe that has ended; false is a request that is none.
func (s *simulation) doneProbe(o engines.Outcome) bool {
	f := s.flyingProbes[o.Request]
	if f == nil {
		return false
	}
	delete(s.flyingProbes, o.Request)
	s.take(f, o)
	s.probeEnds++
	s.clock = max(s.clock, o.Reply.Closed)
	return true
}

// watchProbes sends the probes of the load, if it has any; the function that it
// returns waits until none is sent any more.
func (p *pass) watchProbes() (wait func()) {
	if p.probeRate == 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.probe()
	}()
	return func() { <-done }
}
