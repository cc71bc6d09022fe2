package benchtest

import (
	"iter"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// What is too large to be meant was planned arrival by arrival, for ever, or
// overflowed into a plan that took no time at all.
func TestPlansTooLargeAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Point)
		want string
	}{
		{"requests", func(p *Point) { p.Requests = math.MaxInt }, "benchtest: Point.Requests must be at most 10000000, got 9223372036854775807"},
		{"warmup", func(p *Point) { p.Warmup = math.MaxInt }, "benchtest: Point.Warmup must be at most 10000000, got 9223372036854775807"},
		{"settle", func(p *Point) { p.Settle = math.MaxInt }, "benchtest: Point.Settle must be at most 10000000, got 9223372036854775807"},
		{"runs", func(p *Point) { p.Runs = math.MaxInt }, "benchtest: Point.Runs must be at most 1000, got 9223372036854775807"},
		{"in flight", func(p *Point) { p.Arrivals, p.Closed.InFlight = nil, math.MaxInt }, "benchtest: Point.Closed.InFlight must be at most 1000000, got 9223372036854775807"},
		{"window", func(p *Point) { p.Requests, p.Window = 0, math.MaxInt64 }, "benchtest: Point.Window must be at most a year, 8760h0m0s, got 2562047h47m16.854775807s"},
		{"drain", func(p *Point) { p.Drain = math.MaxInt64 }, "benchtest: Point.Drain must be at most a year, 8760h0m0s, got 2562047h47m16.854775807s"},
		{"rate and window together", func(p *Point) {
			p.Arrivals, p.Requests, p.Window, p.Warmup = arrival.Constant{Rate: 1e6}, 0, time.Hour, -1
		},
			"benchtest: run 0: more than 10000000 arrivals in 1h0m0s: lower Window or the rate"},
		{"a rate so low that the times of the phases overflowed", func(p *Point) { p.Arrivals, p.Warmup = arrival.Constant{Rate: 1e-7}, -1 },
			"benchtest: run 0: arrival 5 of constant 0.0000001/s is due after 11111h6m40.000000002s, at most a year is planned: raise the rate or lower the number of requests"},
		{"a process that stands still", func(p *Point) { p.Arrivals, p.Requests, p.Window = still{}, 0, time.Second },
			"benchtest: run 0: more than 10000000 arrivals in 1s: lower Window or the rate"},
		{"nil pointer to a process", func(p *Point) { p.Arrivals = (*arrival.Poisson)(nil) },
			"benchtest: Point.Arrivals cannot be used, checking it panicked: value method github.com/openloop-go/openloop/benchtest/arrival.Poisson.Validate called using nil *Poisson pointer"},
		{"nil pointer to a workload", func(p *Point) { p.Workload = (*complaining)(nil) },
			"benchtest: Point.Workload cannot be used, checking it panicked: value method github.com/openloop-go/openloop/benchtest.complaining.Validate called using nil *complaining pointer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Point{Workload: prompts{16, 16}, Arrivals: arrival.Poisson{Rate: 4}, Requests: 10}
			c.edit(&p)
			_, err := p.Plan()
			require.Error(t, err)
			assert.Equal(t, c.want, err.Error())
		})
	}
}

// still is a process whose arrivals are all at once, without an end.
type still struct{}

func (still) Times(uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for yield(0) {
		}
	}
}
