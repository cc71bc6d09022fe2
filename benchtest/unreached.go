package benchtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// unreachedError is that no request of a phase was answered by the engine at all.
// It is no failure of requests, which a run may have: nothing can be measured.
type unreachedError struct {
	n     int
	phase string
	why   classes
	// so is what is not done any more.
	so string
	// reset is true where connections were made, and closed at once.
	reset bool
}

func (e *unreachedError) Error() string {
	came := "reached the engine"
	if e.reset {
		came = "was answered by the engine"
	}
	return fmt.Sprintf("none of %s of %s %s (%s), so %s: look into its log, or start it again", many(e.n, "request"), e.phase, came, e.why, e.so)
}

// unreached is an error where no request of a phase reached the engine: no
// connection could be made, or it was closed at once. One that has not ended may
// have reached it. No requests are no error.
func unreached(lines []*metric.Timeline, phase, so string) error {
	e := &unreachedError{n: len(lines), phase: phase, so: so}
	for _, t := range lines {
		switch engines.Class(t.Failure) {
		case engines.Unreachable, engines.Stale:
		case engines.Reset:
			if t.FirstEvent > 0 || t.Events > 0 {
				return nil
			}
			e.reset = true
		default:
			return nil
		}
		e.why.add(t.Failure, firstLine(t.Message))
	}
	if len(lines) == 0 {
		return nil
	}
	return e
}

// gone tells that the engine could not be reached by any request of the window:
// further runs would be of the same.
func gone(r *metric.Record) error {
	return unreached(r.Counted(), "the window", "no further run is made")
}

// goneBefore is gone of a warmup, before the window is offered.
func goneBefore(flights []*flight, phase string) error {
	return unreached(linesOf(flights), phase, "the run is not made")
}

// gone is goneBefore of settle, when the window is about to open.
func (p *pass) gone() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.flights {
		if !f.ended {
			return nil
		}
	}
	return goneBefore(p.flights, "settle")
}

// diedOf is how the engine has ended, where it is known and err is that nothing
// reached it; else it is err.
func (s *session) diedOf(ctx context.Context, err error) error {
	if e := (*unreachedError)(nil); errors.As(err, &e) {
		if dead := s.died(ctx); dead != nil {
			return dead
		}
	}
	return err
}

func linesOf(flights []*flight) (lines []*metric.Timeline) {
	for _, f := range flights {
		lines = append(lines, &f.line)
	}
	return lines
}
