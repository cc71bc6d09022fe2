package benchtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// session makes the runs of one point on one engine: the first look, and the
// runs that Extend asks for.
type session struct {
	engine  engines.Engine
	plan    Plan
	options Options
	virtual bool
	// arm is which of two engines this is, measured in turns; empty is alone.
	arm string
	// simulator is the engine where it computes; nil where it streams.
	simulator engines.Simulator
	// deadline is when the time for this measurement ends; zero is no end.
	// Limit is what sets it, and raise what to raise to move it.
	deadline     time.Time
	limit, raise string

	pairs []metric.Pair
	store *store
	lease *lease
	start *engineStart
	runs  *Runs
	// foreseen are the warnings of the preflight.
	foreseen []string
	// elapsed is the virtual time that a simulator has computed.
	elapsed time.Duration
}

// virtualOrigin is when virtual time begins, as in a synctest bubble.
var virtualOrigin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// newSession checks everything that can be checked before anything starts.
func newSession(engine engines.Engine, p Point, o Options) (*session, error) {
	return newArm("", engine, p, o)
}

// newArm is newSession for one of two engines that are measured in turns.
func newArm(arm string, engine engines.Engine, p Point, o Options) (*session, error) {
	if engine == nil {
		return nil, errors.New("benchtest: the engine must be set, got nil: start one or attach to one")
	}
	if o.Config.Runs > 0 {
		p.Runs = o.Config.Runs
		p.Starts = min(p.Starts, p.Runs)
	}
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	s := &session{engine: engine, plan: plan, options: o, virtual: isVirtual(engine), arm: arm, pairs: p.Pairs()}
	s.simulator, _ = engine.(engines.Simulator)
	if _, ok := engine.(engines.Restarter); !ok && plan.Point.Starts > 1 {
		return nil, fmt.Errorf("benchtest: Point.Starts is %d, and this engine (%T) cannot be restarted: use 1, or start the engine here instead of attaching", plan.Point.Starts, engine)
	}
	if o.Config.Budget > 0 && !s.virtual {
		s.until(time.Now().Add(o.Config.Budget), "the budget", "OPENLOOP_BUDGET")
	}
	file := fileName(plan.Point.Name)
	if arm == metric.ArmControl {
		file += "@control" // which no point's name makes
	}
	if s.store, err = openRecords(o.folder(), o.Test, file); err != nil {
		return nil, err
	}
	s.runs = &Runs{}
	s.runs.extend = s.measure
	return s, nil
}

// isVirtual reports whether the engine's time may be virtual.
func isVirtual(engine engines.Engine) bool {
	if _, ok := engine.(engines.Simulator); ok {
		return true
	}
	v, ok := engine.(engines.Virtual)
	return ok && v.VirtualTime()
}

// until sets the end of the time for this measurement, if it is earlier than
// the one that is set.
func (s *session) until(end time.Time, limit, raise string) {
	if s.deadline.IsZero() || end.Before(s.deadline) {
		s.deadline, s.limit, s.raise = end, limit, raise
	}
}

func (s *session) logf(format string, args ...any) {
	if s.options.Log == nil {
		return
	}
	text := fmt.Sprintf("benchtest: "+format, args...)
	if key := s.options.Config.APIKey; key != "" {
		text = strings.ReplaceAll(text, key, hidden)
	}
	s.options.Log("%s", text)
}

// measure makes runs until there are n. Each is on disk before the next
// starts. A panic of the engine's, in whatever it is asked, is an error.
//
// Starts is the least number of engine starts that the n runs are spread over,
// where the engine can be restarted; zero is what the point says.
func (s *session) measure(ctx context.Context, n, starts int) error {
	return s.secretless(guard(func() error { return s.make(ctx, n, starts) }))
}

func (s *session) make(ctx context.Context, n, starts int) error {
	if err := s.fits(n); err != nil {
		return err
	}
	ctx, cancel := s.inTime(ctx)
	defer cancel()
	free, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer free()
	if err := s.fits(n); err != nil { // waiting took some of the time
		return err
	}
	for i := len(s.runs.Records); i < n; i++ {
		if err := s.one(ctx, i, n, starts); err != nil {
			return err
		}
	}
	return nil
}

// inTime is ctx that ends a little before the time for this measurement does.
func (s *session) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, s.deadline.Add(-s.margin()), fmt.Errorf("%s is over in %v: raise %s", s.limit, brief(s.margin()), s.raise))
}

// one makes run i of n.
func (s *session) one(ctx context.Context, i, n, starts int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("benchtest: stopped before %s %d of %d: %w", s.word(), i+1, n, context.Cause(ctx))
	}
	if s.start == nil {
		s.preflight(ctx)
	}
	planned, err := s.plan.run(i)
	if err != nil {
		return err
	}
	planned.Start = s.startOf(planned, n, starts)
	if err := s.ensureStart(ctx, planned.Start); err != nil {
		return err
	}
	s.announce(planned, n)
	record, err := s.run(ctx, planned)
	if record != nil {
		s.runs.Records = append(s.runs.Records, record)
		err = errors.Join(err, s.store.append(record))
		s.report(record, n)
	}
	if err == nil && i+1 < n {
		err = gone(record)
	}
	if err != nil {
		return fmt.Errorf("benchtest: %s %d of %d: %w", s.word(), i+1, n, err)
	}
	return nil
}

// gone tells that the engine could not be reached by any request of the window:
// further runs would be of the same.
func gone(r *metric.Record) error {
	window := r.Counted()
	for _, t := range window {
		if t.Failure != string(engines.Unreachable) {
			return nil
		}
	}
	if len(window) == 0 {
		return nil
	}
	return fmt.Errorf("none of %d requests reached the engine (%s), so no further run is made: look into its log, or start it again", len(window), firstLine(window[0].Message))
}

// word is what a run of this session is called.
func (s *session) word() string { return strings.TrimSpace(s.arm + " run") }

// startOf is the engine start of a planned run: the point's, or a later one
// where more starts are asked for. One never goes back, nor further than the
// next.
func (s *session) startOf(planned PlannedRun, n, starts int) int {
	if s.start == nil {
		return 0
	}
	number := planned.Start
	if _, ok := s.engine.(engines.Restarter); ok && starts > 0 {
		number = max(number, planned.Index/((n+starts-1)/starts))
	} else if !ok {
		number = 0
	}
	return min(max(number, s.start.number), s.start.number+1)
}

// teardown is the part of the time that is kept for stopping the engine.
const teardown = 30 * time.Second

// margin is what is kept of the time left: a twentieth, and at most the
// teardown.
func (s *session) margin() time.Duration {
	return min(teardown, max(time.Until(s.deadline)/20, 0))
}

// fits refuses a plan that the time left does not hold.
func (s *session) fits(n int) error {
	if s.deadline.IsZero() {
		return nil
	}
	need, err := s.need(n)
	if err != nil {
		return err
	}
	return s.holds(need, n-len(s.runs.Records))
}

// need is how long the runs take that are still to be made until there are n,
// at most; 0 when that depends on the engine.
func (s *session) need(n int) (need time.Duration, err error) {
	for i := len(s.runs.Records); i < n; i++ {
		planned, err := s.plan.run(i)
		if err != nil {
			return 0, err
		}
		d, err := s.plan.length(planned)
		if err != nil {
			return 0, nil
		}
		need += d
	}
	return need, nil
}

// holds refuses a number of runs that need more than the time left.
func (s *session) holds(need time.Duration, runs int) error {
	left := time.Until(s.deadline)
	if need <= left-s.margin() || need == 0 {
		return nil
	}
	return fmt.Errorf("benchtest: needs %v at most for %s (a drain of %v each included), and %s is over in %v: raise %s, or lower Point.Runs, the size of a run or Point.Drain", brief(need), many(runs, "run"), s.plan.Point.Drain, s.limit, brief(left), s.raise)
}
