package benchtest

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"reflect"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// RunBoth measures one point on two engines in turns, outside of a test: run i
// of both arms does the same work, one after the other, so that whatever slows
// the machine down slows both. The control is a known engine: the build that
// the candidate is to be compared with, or one that is frozen and stands for
// the machine. Each arm's records say which it is.
//
// Pairs alternate in who goes first, as in the Thue–Morse sequence (control,
// candidate; candidate, control; candidate, control; control, candidate; …),
// so that a machine that slows down steadily favours neither. Where both
// engines can be restarted and Point.Starts is 0, each run is made on a start
// of its own: the luck of a start is then part of what varies between runs
// instead of being taken for the build's. Point.Starts says otherwise, at the
// price that a verdict holds only as far as starts are alike.
//
// The two engines are both up all the time, and one is idle while the other is
// measured: they must fit on the machine together. One engine for both arms, an arm
// that serves while only the other is measured (as one server behind both does), and
// an engine in virtual time beside one on a real clock are errors. The runs that were made
// are returned also with an error.
//
// The candidate's Runs have the control's as their Control. Extending either
// extends both, in turns. The control's records are kept beside the
// candidate's, in <point>@control.jsonl.
func RunBoth(ctx context.Context, control, candidate engines.Engine, p Point, o Options) (controlRuns, candidateRuns *Runs, err error) {
	b, err := newBoth(control, candidate, p, o)
	if err != nil {
		none := &Runs{}
		return none, &Runs{Control: none}, err
	}
	return b.control.runs, b.candidate.runs, b.measure(ctx, b.candidate.plan.Point.Runs, 0)
}

// MeasureBoth is RunBoth inside of a test: three pairs of runs, unless the
// point or the environment says otherwise. As with Measure, a problem of the
// plan or of the environment fails the test at once.
func MeasureBoth(t T, control, candidate engines.Engine, p Point) (controlRuns, candidateRuns *Runs) {
	t.Helper()
	o, err := optionsOf(t)
	if err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
	b, err := newBoth(control, candidate, p, o)
	if err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
	b.control.within(t)
	b.candidate.within(t)
	measure := func(ctx context.Context, n, starts int) error {
		ctx, restore := b.candidate.interruptible(ctx)
		defer restore()
		return b.measure(ctx, n, starts)
	}
	b.extendBy(measure)
	if err := measure(t.Context(), b.candidate.plan.Point.Runs, 0); err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
	return b.control.runs, b.candidate.runs
}

// both makes the runs of one point on two engines in turns.
type both struct {
	control, candidate *session
	// fresh gives each run a start of its own.
	fresh bool
}

func newBoth(control, candidate engines.Engine, p Point, o Options) (*both, error) {
	if control != nil && reflect.ValueOf(control).Comparable() && control == candidate {
		return nil, errors.New("benchtest: control and candidate are the same engine, so nothing would be compared: start the other build beside it")
	}
	b := &both{}
	var errs [2]error
	b.control, errs[0] = newArm(metric.ArmControl, control, p, o)
	b.candidate, errs[1] = newArm(metric.ArmCandidate, candidate, p, o)
	for i, name := range []string{metric.ArmControl, metric.ArmCandidate} {
		if errs[i] != nil {
			return nil, fmt.Errorf("%w (%s)", errs[i], name)
		}
	}
	if b.control.virtual != b.candidate.virtual || (b.control.simulator == nil) != (b.candidate.simulator == nil) {
		return nil, fmt.Errorf("benchtest: control (%T) and candidate (%T) do not share a clock, so they cannot be measured in turns: use two engines of a kind", control, candidate)
	}
	_, one := control.(engines.Restarter)
	_, other := candidate.(engines.Restarter)
	b.fresh = p.Starts == 0 && one && other
	b.candidate.runs.Control = b.control.runs
	b.control.inTimeFor, b.candidate.inTimeFor = b.fits, b.fits
	b.extendBy(b.measure)
	return b, nil
}

func (b *both) extendBy(f func(ctx context.Context, n, starts int) error) {
	b.control.runs.extend, b.candidate.runs.extend = f, f
}

// measure makes pairs of runs until there are n. A panic of an engine's, in
// whatever it is asked, is an error.
func (b *both) measure(ctx context.Context, n, starts int) error {
	return b.control.secretless(b.candidate.secretless(guard(func() error { return b.make(ctx, n, starts) })))
}

func (b *both) make(ctx context.Context, n, starts int) error {
	if err := b.fits(n); err != nil {
		return err
	}
	ctx, cancel := b.candidate.inTime(ctx)
	defer cancel()
	free, err := b.hold(ctx)
	if err != nil {
		return err
	}
	defer free()
	if err := b.fits(n); err != nil { // waiting took some of the time
		return err
	}
	if b.fresh {
		starts = n
	}
	first := min(len(b.control.runs.Records), len(b.candidate.runs.Records))
	for i := first; i < n; i++ {
		for _, s := range b.turns(i) {
			// An error may have left a pair with one run.
			if len(s.runs.Records) > i {
				continue
			}
			if err := b.turn(ctx, s, i, n, starts); err != nil {
				return err
			}
			if enough, err := s.enough(n, first > 0); enough || err != nil {
				return err
			}
		}
	}
	return nil
}

// turns are the arms in the order in which they make run i: the Thue–Morse
// sequence, 0110 1001 …, whose parities cancel a drift of any low degree.
func (b *both) turns(i int) [2]*session {
	if bits.OnesCount(uint(i))%2 == 1 {
		return [2]*session{b.candidate, b.control}
	}
	return [2]*session{b.control, b.candidate}
}

// fits refuses a plan of both arms that the time left does not hold.
func (b *both) fits(n int) error {
	if b.candidate.deadline.IsZero() {
		return nil
	}
	one, err := b.control.need(n)
	if err != nil {
		return err
	}
	other, err := b.candidate.need(n)
	if err != nil {
		return err
	}
	return b.candidate.holds(one.and(other))
}

// hold waits for both engines. Who holds two took the one of the lower number
// first, so that no two wait for each other.
func (b *both) hold(ctx context.Context) (release func(), err error) {
	first, second := b.control, b.candidate
	if one, other := first.leased(), second.leased(); one != nil && other != nil && one.number > other.number {
		first, second = second, first
	}
	freeFirst, err := first.hold(ctx)
	if err != nil {
		return nil, err
	}
	freeSecond, err := second.hold(ctx)
	if err != nil {
		freeFirst()
		return nil, err
	}
	return func() { freeSecond(); freeFirst() }, nil
}
