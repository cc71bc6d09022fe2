package benchtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// announce says what begins and what is left, where time is real.
func (s *session) announce(planned PlannedRun, n int) {
	if s.virtual {
		return
	}
	left := ""
	var need time.Duration
	for i := planned.Index; i < n; i++ {
		run, err := s.plan.run(i)
		if err != nil {
			return
		}
		d, err := s.plan.length(run)
		if err != nil {
			break
		}
		need += d - s.plan.Point.Drain
	}
	if need > 0 {
		left = fmt.Sprintf(": about %v of load, %v for all that is left", brief(planned.Warmup+planned.Settle+planned.Window), brief(need))
	}
	s.logf("%s %d of %d at %s, seed %016x%s", s.word(), planned.Index+1, n, s.plan.Point, planned.Seed, left)
}

// report says what a run came to.
func (s *session) report(r *metric.Record, n int) {
	if s.virtual && len(r.Problems) == 0 {
		return
	}
	failed := 0
	window := r.Counted()
	for _, t := range window {
		if t.Failure != "" {
			failed++
		}
	}
	s.logf("%s %d of %d: %d requests in a window of %v, %d failed", s.word(), r.Run+1, n, len(window), brief(r.To-r.From), failed)
	if !s.virtual && r.Client.Verdict != "" {
		s.logf("%s %d: client %s: %s", s.word(), r.Run+1, r.Client.Verdict, strings.Join(r.Client.Reasons, "; "))
	}
	for _, p := range r.Problems {
		s.logf("%s %d is invalid: %s: %s", s.word(), r.Run+1, p.Kind, p.Text)
	}
}

// progressEvery is how often a load on a real clock says how far it is.
const progressEvery = 15 * time.Second

// watcher reports on a load until the function that it returns is called.
type watcher func(p *pass) (stop func())

func unwatched(*pass) func() { return func() {} }

// watch is a watcher that says something of a load on a real clock, where there is
// somebody to say it to: for the first time after so long, and then ever so often.
func (s *session) watch(first, every time.Duration, say func(p *pass)) watcher {
	if s.virtual || s.options.Log == nil {
		return unwatched
	}
	return func(p *pass) func() {
		quit, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			timer := time.NewTimer(first)
			defer timer.Stop()
			for {
				select {
				case <-quit:
					return
				case <-timer.C:
				}
				say(p)
				timer.Reset(every)
			}
		}()
		return func() { close(quit); <-done }
	}
}

// progress is a watcher that says, now and then, how far a load is whose
// arrivals last so long; zero is not known.
func (s *session) progress(what string, index int, lasts time.Duration) watcher {
	return s.watch(progressEvery, progressEvery, func(p *pass) {
		left := ""
		if rest := lasts - (p.now() - lead); rest > 0 {
			left = fmt.Sprintf(", about %v left", brief(rest))
		}
		sent, open := p.progress()
		s.logf("%s %d: %d requests sent, %d in flight%s", what, index+1, sent, open, left)
	})
}

// progress is how many requests were sent and how many have not ended.
func (p *pass) progress() (sent, open int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.flights), p.open
}
