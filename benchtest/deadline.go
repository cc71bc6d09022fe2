package benchtest

import (
	"context"
	"fmt"
	"time"
)

// teardown is the part of the time that is kept for stopping the engine.
const teardown = 30 * time.Second

// margin is what is kept of the time left: a twentieth, and at most the
// teardown.
func (s *session) margin() time.Duration {
	return min(teardown, max(time.Until(s.deadline)/20, 0))
}

// inTime is ctx that ends a little before the time for this measurement does.
func (s *session) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, s.deadline.Add(-s.margin()), fmt.Errorf("%s is over in %v: raise %s", s.limit, brief(s.margin()), s.raise))
}

// spent is how long runs took, with warmup, waits and drain; zero before the
// first.
type spent struct{ shortest, longest time.Duration }

func (t *spent) run(d time.Duration) {
	if t.longest = max(t.longest, d); t.shortest == 0 || d < t.shortest {
		t.shortest = d
	}
}

// need is how long some runs take.
type need struct {
	runs int
	// most is the worst case of runs that go as planned; 0 is not known. It is
	// estimated where it follows from the runs so far.
	most      time.Duration
	estimated bool
}

// known reports whether it is known how long the runs take.
func (n need) known() bool { return n.runs == 0 || n.most > 0 }

// and is the need of the runs of both.
func (n need) and(other need) need {
	sum := need{runs: n.runs + other.runs, estimated: n.estimated || other.estimated}
	if n.known() && other.known() {
		sum.most = n.most + other.most
	}
	return sum
}

// fits refuses a plan that the time left does not hold: the runs that are still
// to be made until there are n or, where they become a baseline, as many as that
// has. The length of a closed loop depends on the engine and is not known before
// its first run; afterwards the longest so far stands for it.
func (s *session) fits(n int) error {
	if s.deadline.IsZero() {
		return nil
	}
	need, err := s.need(max(n, s.baseline))
	if err != nil {
		return err
	}
	return s.holds(need)
}

// need is how long the runs take that are still to be made until there are n.
func (s *session) need(n int) (need, error) {
	out := need{runs: n - len(s.runs.Records)}
	for i := len(s.runs.Records); i < n; i++ {
		planned, err := s.plan.run(i)
		if err != nil {
			return need{}, err
		}
		d, err := s.plan.length(planned)
		if err != nil {
			d, out.estimated = s.spent.longest, true
		}
		out.most += d
	}
	return out, nil
}

// holds refuses runs that need more than the time left.
func (s *session) holds(n need) error {
	left := time.Until(s.deadline)
	if n.most == 0 || n.most <= left-s.margin() {
		return nil
	}
	what, fewer := many(n.runs, "run"), "lower Point.Runs, the size of a run or Point.Drain"
	if s.baseline > 0 {
		what, fewer = what+" of a baseline", "lower OPENLOOP_RUNS, the size of a run or Point.Drain"
	}
	if n.estimated {
		return fmt.Errorf("benchtest: needs about %v for %s (the longest so far took %v), and %s is over in %v: raise %s, or %s",
			brief(n.most), what, brief(s.spent.longest), s.limit, brief(left), s.raise, fewer)
	}
	return fmt.Errorf("benchtest: needs %v at most for %s (a drain of %v each included), and %s is over in %v: raise %s, or %s",
		brief(n.most), what, s.plan.Point.Drain, s.limit, brief(left), s.raise, fewer)
}

// goesOn refuses to begin a run of which it is clear that the time left does not
// hold it and those after it, until there are n or those of a baseline: a restart
// of the engine, or a wait for it, took what the plan had left. Drains are not
// counted.
func (s *session) goesOn(n int) error {
	made := len(s.runs.Records)
	n = max(n, s.baseline)
	if s.deadline.IsZero() || made == 0 {
		return nil
	}
	var least time.Duration
	for i := made; i < n; i++ {
		planned, err := s.plan.run(i)
		if err != nil {
			return err
		}
		d, err := s.plan.length(planned)
		if err != nil {
			least += s.spent.shortest
			continue
		}
		least += d - s.plan.Point.Drain
	}
	left := time.Until(s.deadline)
	if least <= left-s.margin() {
		return nil
	}
	return fmt.Errorf("benchtest: stopped before %s %d of %d: what is left takes %v or more, and %s is over in %v: raise %s, or make fewer or smaller ones",
		s.word(), made+1, n, brief(least), s.limit, brief(left), s.raise)
}
