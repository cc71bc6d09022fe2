package benchtest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
)

// Options are what Run needs beside the engine and the point. The zero value
// keeps no records on disk and says nothing.
type Options struct {
	// Config is the configuration: its Runs, Budget, Update and APIKey are
	// used, the last only to keep it out of records. Zero changes nothing.
	Config ci.Config
	// Test is the name that records carry and that is part of their path.
	Test string
	// Dir is the folder for records: they go to
	// <Dir>/records/<Test>/<point>.jsonl. Empty is Config.Artifacts, and
	// where that is empty too none are kept.
	Dir string
	// Again has a run made again that is invalid for nothing but a host that was
	// late, as Measure does (see Runs). False keeps it as it is, for who wants to
	// know what this host can do.
	Again bool
	// Log gets progress and what must be known before the end; nil is silent.
	Log func(format string, args ...any)
}

func (o Options) folder() string {
	if o.Dir != "" {
		return o.Dir
	}
	return o.Config.Artifacts
}

// Run measures a point on an engine, outside of a test. The runs that were
// made are returned also with an error, which is of the plan or of the
// environment; a run that cannot be trusted is no error, its record says why.
// Runs can be extended until the engine is gone.
//
// Run catches no signals: end ctx instead (signal.NotifyContext).
func Run(ctx context.Context, engine engines.Engine, p Point, o Options) (*Runs, error) {
	s, err := newSession(engine, p, o)
	if err != nil {
		return &Runs{}, err
	}
	return s.runs, s.measure(ctx, s.plan.Point.Runs, 0)
}

// Measure makes the runs of a point on an engine inside of a test: three,
// unless the point or the environment says otherwise. Its configuration is
// that of ci.Load.
//
// A problem of the plan (a point that is not valid, a plan that does not fit
// the test's deadline) or of the environment (records that cannot be written,
// an engine that does not answer) fails the test at once, before any load
// where it can be known before. Whether the runs can be trusted is for
// assert.Valid to say.
//
// What is checked against the test's deadline, and against OPENLOOP_BUDGET, on a
// real clock, is: the whole worst case of these runs, a whole drain for each
// included, before anything is sent; with -openloop.update (but not =append) that
// of all the runs that a baseline takes, which NoRegression makes afterwards; and
// that of each later look before its first run. What restarts of the engine take,
// and waits for it to be idle, is not known beforehand: a run is not begun when
// even the arrivals that are left would not end in time. A closed loop lasts as
// long as its engine takes, so that it is checked by the runs made so far, and
// the first not at all.
//
// With -openloop.update the first run that cannot be trusted is the last, unless
// it is made again (see Runs): it could not be stored.
//
// Each finished run is on disk, below testdata/openloop/records, before the
// next starts. On a real clock SIGINT, SIGTERM and SIGHUP call the load off. The
// test's result is never served from go test's cache.
//
// Measure never calls t.Run or t.Parallel, and asks t for a Deadline by type
// assertion, unless the engine lives in virtual time.
func Measure(t T, engine engines.Engine, p Point) *Runs {
	t.Helper()
	o, err := optionsOf(t)
	if err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
	s, err := newSession(engine, p, o)
	if err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
	s.within(t)
	measure := func(ctx context.Context, n, starts int) error {
		ctx, restore := s.interruptible(ctx)
		defer restore()
		return s.measure(ctx, n, starts)
	}
	s.runs.extend = measure
	if err := measure(t.Context(), s.plan.Point.Runs, 0); err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
	return s.runs
}

// optionsOf are the options of a measurement inside of a test.
func optionsOf(t T) (Options, error) {
	config, err := ci.Load()
	if err != nil {
		return Options{}, err
	}
	neverCached()
	o := Options{Config: config, Test: t.Name(), Dir: config.Artifacts, Again: true, Log: teller(t)}
	if o.Dir == "" {
		o.Dir = defaultDir
	}
	return o, nil
}

// within bounds the measurement by the test's deadline, if time is real.
func (s *session) within(t T) {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok && !s.virtual {
		if end, set := d.Deadline(); set {
			s.until(end, "the test's time", "-timeout")
		}
	}
}

// guard runs f and makes an error of a panic.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("benchtest: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// secretless is err without secrets, which servers repeat in their errors.
func (s *session) secretless(err error) error {
	if err == nil {
		return nil
	}
	if text := s.clean(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}
