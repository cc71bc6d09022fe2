package benchtest

import (
	"fmt"
	"sync/atomic"
	"time"
)

// leastSilence is for how long an engine may always say nothing.
const leastSilence = 10 * time.Second

// silence is for how long no event may come from any request in flight. What a
// user grants the last requests of a window is more than a whole request takes;
// a token takes no longer.
func (l *load) silence() time.Duration { return max(l.drain, leastSilence) }

// hearing is when an engine last gave a sign of life: an event of a stream or
// the end of one, or when it was last given work while it had none.
type hearing struct{ at atomic.Int64 }

func (h *hearing) heard(at time.Duration) {
	for old := h.at.Load(); int64(at) > old; old = h.at.Load() {
		if h.at.CompareAndSwap(old, int64(at)) {
			return
		}
	}
}

// silent is for how long nothing was heard of so many in flight; zero where
// there are none.
func (p *pass) silent() (d time.Duration, inFlight int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if inFlight = p.running + p.probing; inFlight == 0 {
		return 0, 0
	}
	return p.now() - time.Duration(p.hearing.at.Load()), inFlight
}

// working takes note that the engine is given work, where it had none. p.mu is
// held.
func (p *pass) working() {
	if p.running+p.probing == 0 {
		p.hearing.heard(p.now())
	}
}

// listen ends the load when nothing was heard for too long, until the function
// that it returns is called.
func (p *pass) listen() (stop func()) {
	limit := p.silence()
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(limit)
		defer timer.Stop()
		for {
			select {
			case <-quit:
				return
			case <-timer.C:
			}
			if p.life.Err() != nil {
				return // what is in flight is being ended
			}
			d, n := p.silent()
			if d >= limit {
				p.crashWith(hangs(d, n))
				return
			}
			timer.Reset(limit - d)
		}
	}()
	return func() { close(quit); <-done }
}

// itHangs is what follows from a silence that was too long.
const itHangs = "the engine hangs: look into its log and start it again (where a token may take that long, or events are held back on the way, raise Point.Drain)"

// hangs is what to say of an engine that was silent for too long.
func hangs(d time.Duration, inFlight int) error {
	return fmt.Errorf("benchtest: no event has come for %v, with %s in flight: %s", brief(d), many(inFlight, "request"), itHangs)
}

// stopped is the reason for which the load was stopped from outside, with what
// may be behind it.
func (p *pass) stopped(cause error) error {
	switch d, n := p.silent(); {
	case d >= p.silence():
		return fmt.Errorf("%w; %s", cause, hangs(d, n))
	case d >= leastSilence:
		return fmt.Errorf("%w; no event had come for %v, with %s in flight", cause, brief(d), many(n, "request"))
	}
	return cause
}

// heardAfter reports whether any request had an event after the window.
func (j *judge) heardAfter() bool {
	for i := range j.r.Requests {
		if t := &j.r.Requests[i]; max(t.FirstEvent, t.LastToken) > j.r.To {
			return true
		}
	}
	return false
}
