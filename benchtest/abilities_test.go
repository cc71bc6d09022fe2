package benchtest

import (
	"context"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// The abilities, each as a function of how often it was asked, from 0.
type (
	flusher struct {
		flush func(n int) (engines.Flush, error)
		n     int
		at    []time.Time
	}
	loader struct {
		load func(n int) (engines.Load, error)
		n    int
	}
	scraper struct {
		scrape func(n int) (engines.Counters, error)
		n      int
	}
	compiler  struct{ compiles []int }
	describer struct{ identity engines.Identity }
	restarter struct{ restarts int }
)

func (a *flusher) Flush(context.Context) (engines.Flush, error) {
	a.n++
	a.at = append(a.at, time.Now())
	return a.flush(a.n - 1)
}

func (a *loader) Load(context.Context) (engines.Load, error) { a.n++; return a.load(a.n - 1) }

func (a *scraper) Scrape(context.Context) (engines.Counters, error) {
	a.n++
	return a.scrape(a.n - 1)
}

func (a *compiler) CompileEvents(context.Context) (engines.Count, error) {
	n := a.compiles[0]
	if len(a.compiles) > 1 {
		a.compiles = a.compiles[1:]
	}
	return engines.Known(n), nil
}

func (a *describer) Describe(context.Context) (engines.Identity, error) { return a.identity, nil }
func (a *restarter) Restart(context.Context) error                      { a.restarts++; return nil }

func quick() *script { return &script{first: 10 * time.Millisecond, gap: time.Millisecond} }

// usual is a point at which nothing is wrong with a quick script.
func usual() Point {
	return Point{Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100, Runs: 1}
}
