package benchtest

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/engines"
)

// warmup offers the point's own load from other seeds, and checks afterwards
// that it was long enough.
func (s *session) warmup(ctx context.Context, planned PlannedRun, r *metric.Record) error {
	n := s.plan.Point.Warmup
	if n == 0 {
		r.Warnings = append(r.Warnings, "no warmup: what compiles, allocates or clocks up does so in the run")
		return nil
	}
	out := s.offer(ctx, s.load(planned, "", true), s.progress("warmup of run", planned.Index, planned.Warmup))
	r.WarmupRequests = len(out.flights)
	if out.cut != nil {
		return fmt.Errorf("in the warmup: %w", out.cut)
	}
	if err := s.died(ctx); err != nil {
		return fmt.Errorf("in the warmup: %w", err)
	}
	if err := goneBefore(out.flights, "the warmup"); err != nil {
		return err
	}
	s.stuck(r, out)
	s.failedWarmup(r, out.flights)
	if s.plan.Point.Settle == 0 {
		// Settle goes on with the same load, so that where there is one, and
		// it is long enough, the warmup has been.
		s.longEnough(r, "Warmup", n, out.flights)
	}
	return nil
}

// longEnough checks a phase of n requests against three mean durations of its
// requests and, where the engine's capacity is known, the time that a queue
// takes to forget how it began (relaxation, see package steady).
//
// The mean is that of the phase's first half: past saturation durations grow
// for as long as the phase does, and no phase would be long enough.
func (s *session) longEnough(r *metric.Record, field string, n int, flights []*flight) {
	p := s.plan.Point
	if p.Closed.InFlight == 1 {
		return // there is no queue to fill
	}
	var sum, first, last, least time.Duration
	ended := 0
	for i, f := range flights {
		if i == 0 {
			first = f.line.Scheduled
		}
		last = f.line.Scheduled
		if d, ok := f.line.E2E(); ok && i <= n/2 {
			sum += d
			ended++
			if least == 0 || d < least {
				least = d
			}
		}
	}
	if ended == 0 || n < 2 {
		return
	}
	mean := sum / time.Duration(ended)
	// Each of the n arrivals stands for a gap, and there are n − 1 between.
	took := (last - first) * time.Duration(n) / time.Duration(n-1)
	rate := float64(n) / took.Seconds()
	if p.Closed.InFlight > 1 {
		// Three turns of all slots, whatever they take.
		if want := 3 * p.Closed.InFlight; n < want {
			s.tooShort(r, field, n, want, fmt.Sprintf("three turns of %d in flight", p.Closed.InFlight))
		}
		return
	}
	if took < 3*mean && outgrown(r, took, 3*least) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s of %d requests took %v, less than three mean request durations (%v), which grow with the queue: at this load no number of requests settles it",
			field, n, brief(took), brief(3*mean)))
		return
	}
	if took < 3*mean {
		inFlight := rate * mean.Seconds()
		s.tooShort(r, field, n, steady.Cut(n, inFlight, 0), fmt.Sprintf("it took %v, and three mean request durations are %v", brief(took), brief(3*mean)))
		return
	}
	// The load that was asked for, not the one that chance made of it: near
	// the knee the relaxation doubles within that chance, and a run that is
	// invalid by its arrivals' luck is so every time, since they are replayed.
	if m, ok := p.Arrivals.(rated); ok {
		rate = m.MeanRate(took)
	}
	if rho := rate / p.Capacity; p.Capacity > 0 && rho < 1 {
		want := min(steady.Relaxation(rho), 0.3*p.expectedRequests())
		if float64(n) < want {
			s.tooShort(r, field, n, int(math.Ceil(want)), fmt.Sprintf("at %.0f %% of Point.Capacity a queue takes %.0f arrivals to settle", 100*rho, want))
		}
	}
}

// outgrown reports that the queue still grows in the second half of the
// window, when the load has gone on for as long as settling takes where
// nothing waits: then it is the load that keeps it from settling, and
// stability is to say so.
func outgrown(r *metric.Record, settled, want time.Duration) bool {
	half := *r
	half.From += (r.To - r.From) / 2
	if settled+half.From-r.From < want {
		return false
	}
	verdict, err := steady.JudgeRecords(&half)
	return err == nil && verdict.State == steady.Growing
}

func (s *session) tooShort(r *metric.Record, field string, n, want int, why string) {
	addProblem(r, kindTooShort, "%s of %d requests is too short: %s: set Point.%s to %d or more", field, n, why, field, max(want, n+1))
}

func addProblem(r *metric.Record, kind, format string, args ...any) {
	r.Problems = append(r.Problems, metric.Problem{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// stuck notes requests whose engine never returned.
func (s *session) stuck(r *metric.Record, out outcome) {
	if out.stuck > 0 {
		addProblem(r, kindStuck, "%d requests did not return from Generate within %v of their context's end: the engine must end with its context (engines/enginetest checks it)", out.stuck, returnGrace)
	}
}

// idleLimit bounds the wait for the engine's own queue to empty, and for a
// flush that it refuses.
const idleLimit = 60 * time.Second

// quiesce waits until the engine itself holds no work. Nothing of ours is in
// flight any more; what we ended early may still be running there.
func (s *session) quiesce(ctx context.Context, r *metric.Record) error {
	l, ok := s.engine.(engines.Loader)
	if !ok || s.simulator != nil {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, idleLimit)
	defer cancel()
	var seen engines.Load
	var silent error // the last answer was none
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		load, err := l.Load(limit)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case err != nil && limit.Err() == nil:
			r.Warnings = append(r.Warnings, fmt.Sprintf("the engine's queue could not be read: %v", err))
			return nil
		case err == nil && !(load.Running.Known && load.Waiting.Known):
			r.Warnings = append(r.Warnings, "the engine does not tell how many requests it runs and holds: that it was idle before the flush is not known")
			return nil
		case err == nil && load.Idle():
			s.start.ledger.idle = true
			return nil
		case err == nil:
			seen, silent = load, nil
		default:
			silent = err
		}
		if !sleep(limit, wait) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if silent != nil {
				addProblem(r, kindNotIdle, "the engine has not told its queue for %v after our last request (%s): it hangs, or its host does; look into its log", idleLimit, firstLine(silent.Error()))
				return nil
			}
			addProblem(r, kindNotIdle, "the engine still ran %d requests and held %d, %v after our last: somebody else is using it; measure it alone", seen.Running.N, seen.Waiting.N, idleLimit)
			return nil
		}
	}
}
