package benchtest

import (
	"context"
	"errors"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
)

var errLater = errors.New("later")

// DefaultLimits returns the defaults of Limits.
func DefaultLimits() Limits { return Limits{} }

// Validate reports everything wrong at once.
func (p Point) Validate() error { return errLater }

// String is the point on one line.
func (p Point) String() string { return "" }

// Label is Name, or the name derived from the load.
func (p Point) Label() string { return p.Name }

// Pairs are the point as canonical pairs.
func (p Point) Pairs() []metric.Pair { return nil }

// Hash is the hash of Pairs.
func (p Point) Hash() string { return metric.Hash(p.Pairs()) }

// Plan is a dry run of a point.
type Plan struct{}

// Plan computes the plan of a valid point.
func (p Point) Plan() (Plan, error) { return Plan{}, errLater }

// Duration is the worst case of the load phases, drains included; false when
// it depends on the engine (closed loops).
func (p Plan) Duration() (time.Duration, bool) { return 0, false }

func (p Plan) String() string { return "" }

// Judge is the validity judge.
func Judge(r *metric.Record, p Point) (problems []metric.Problem, warnings []string) {
	return nil, nil
}

// Options are for Run.
type Options struct {
	// Config is the environment; zero is none of it.
	Config ci.Config
	// Test is the name that records carry and that is part of their path.
	Test string
	// Dir is the folder for records; empty keeps none on disk.
	Dir string
	// Log gets progress; nil is silent.
	Log func(format string, args ...any)
}

// Run measures outside of a test.
func Run(ctx context.Context, engine engines.Engine, p Point, o Options) (*Runs, error) {
	return nil, errLater
}

// Measure measures inside of a test.
func Measure(t T, engine engines.Engine, p Point) *Runs { return nil }

// Load reads runs from a records file; they cannot be extended.
func Load(path string) (*Runs, error) { return nil, errLater }
