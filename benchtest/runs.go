package benchtest

import (
	"context"
	"errors"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// T is what Measure needs of a *testing.T.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Context() context.Context
}

// Runs are the runs made at one point. They are data: the assertions judge
// them, and none of them measures, except NoRegression, which may extend
// them.
//
// No run is left out by what it shows. Inside of a test (and where Options.Again
// says so), on a real clock, a run that is invalid for nothing but a
// client-limited host, which may pass, is made again at once,
// with the same arrivals and lengths and other content: once, for at most two
// runs of a measurement (of each arm), and where the time left holds it. The rule
// reads how late this side was and no latency of the engine's, nor how long the
// server took to accept a connection. (An engine on the same host can make this side
// late itself, by taking the CPU that it needs: then which runs are made again does
// depend on what the engine does. Give the two CPUs of their own.) What is invalid
// again, or for another reason (a wrong model, errors, outputs cut short, a host out of
// descriptors), stays, and the assertions refuse it.
type Runs struct {
	// Records are the runs in order.
	Records []*metric.Record
	// Replaced are the invalid runs in whose place Records has one that was made
	// again. They are kept on disk, in <point>@replaced.jsonl beside the records;
	// Load does not bring them back. Nil is none.
	Replaced []*metric.Record
	// Control are the runs of a known engine that were made in turns with
	// these, run for run; see MeasureBoth. Nil is none. They are what tells a
	// slower machine from a slower engine.
	Control *Runs

	// extend makes runs until there are n, over at least so many starts of
	// the engine where it can be restarted; 0 is what the point says.
	extend func(ctx context.Context, n, starts int) error
}

// Extendable reports whether more runs can be made: runs just measured can be
// extended, runs loaded from disk cannot.
func (r *Runs) Extendable() bool { return r.extend != nil }

// Extend makes more runs until there are n. It is an error where the time left
// (the test's, or the budget) does not hold them all, and then none is made;
// and it stops with an error at the first new run that cannot be trusted, since
// nothing is judged on runs of which one is invalid. The runs made so far are
// never lost: on an error they are in Records. Runs that were made in turns with
// those of another engine are extended so, both arms at once. Runs that are
// not extendable are an error.
func (r *Runs) Extend(ctx context.Context, n int) error { return r.ExtendOver(ctx, n, 0) }

var errNotExtendable = errors.New("benchtest: these runs were loaded, not measured, so no more can be made: measure the point again")

// ExtendOver is Extend over at least so many starts of the engine, those made
// so far included, where the engine can be restarted; where it cannot, the
// runs are made on the start there is. A baseline is recorded so, because
// starts differ too. Zero is what the point says.
func (r *Runs) ExtendOver(ctx context.Context, n, starts int) error {
	if r.extend == nil {
		return errNotExtendable
	}
	return r.extend(ctx, n, starts)
}
