package benchtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/ci"
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
	// baseline is the number of runs that are recorded as one, which is then the
	// plan from the first on; 0 is no baseline, or one of which nothing is known.
	baseline int
	spent    spent
	again    again
	// inTimeFor refuses a number of runs that the time left does not hold, of
	// both engines where two are measured in turns.
	inTimeFor func(n int) error
	// foreseen are the warnings of the preflight.
	foreseen []string
	vain     vain
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
	_, restarts := engine.(engines.Restarter)
	p = configured(p, o.Config, restarts && arm == "")
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	s := &session{engine: engine, plan: plan, options: o, virtual: isVirtual(engine), arm: arm, pairs: p.Pairs()}
	s.simulator, _ = engine.(engines.Simulator)
	s.inTimeFor = s.fits
	if o.Config.Update && !o.Config.Append && arm == "" {
		s.baseline = o.Config.BaselineRuns(plan.Point.Runs)
	}
	if !restarts && plan.Point.Starts > 1 {
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

// configured is the point with the number of runs that the configuration asks
// for. More than the usual ones, and those of a baseline, are spread over two
// starts where the point leaves it open: the luck of one start would be in all.
func configured(p Point, c ci.Config, restarts bool) Point {
	if c.Runs == 0 {
		return p
	}
	p.Runs = c.Runs
	records := (c.Update || c.Create) && !c.Append
	if p.Starts == 0 && restarts && (records || p.Runs > defaultRuns) {
		p.Starts = 2
	}
	p.Starts = min(p.Starts, p.Runs)
	return p
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
	s.options.Log("%s", s.clean(fmt.Sprintf("benchtest: "+format, args...)))
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
	first := len(s.runs.Records)
	for i := first; i < n; i++ {
		if err := s.one(ctx, i, n, starts); err != nil {
			return err
		}
		if enough, err := s.enough(n, first > 0); enough || err != nil {
			return err
		}
	}
	return nil
}

// one makes run i of n, a second time where it may be made again.
func (s *session) one(ctx context.Context, i, n, starts int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("benchtest: stopped before %s %d of %d: %w", s.word(), i+1, n, context.Cause(ctx))
	}
	if err := s.died(ctx); err != nil {
		return err
	}
	if err := s.goesOn(n); err != nil {
		return err
	}
	if !s.virtual {
		carryBallast()
	}
	begins := s.start == nil
	if begins {
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
	if begins {
		if err := s.room(ctx); err != nil {
			return err
		}
	}
	for made := false; !made; {
		if made, err = s.try(ctx, planned, n); err != nil {
			return fmt.Errorf("benchtest: %s %d of %d: %w", s.word(), i+1, n, err)
		}
	}
	return nil
}

// try makes a planned run; false is one that was set aside, to be made again.
func (s *session) try(ctx context.Context, planned PlannedRun, n int) (made bool, err error) {
	s.announce(planned, n)
	begun := time.Now()
	record, err := s.run(ctx, planned)
	if record == nil {
		return true, err
	}
	s.spent.run(time.Since(begun))
	if err == nil && s.passing(record, n) {
		return false, s.setAside(record, n)
	}
	s.runs.Records = append(s.runs.Records, record)
	err = errors.Join(err, s.store.append(record))
	s.report(record, n) // what is said to have finished is on disk
	if err == nil && planned.Index+1 < n {
		if err = s.died(ctx); err == nil {
			err = gone(record)
		}
	}
	return true, err
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
