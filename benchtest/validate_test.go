package benchtest

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Point)
		want string // empty is valid
	}{
		{"as it is", func(*Point) {}, ""},
		{"everything set", func(p *Point) {
			*p = Point{
				Name: "a-1_b.c", Workload: p.Workload, Arrivals: arrival.Gamma{Rate: 3, Burstiness: 0.5}, Window: time.Minute,
				Warmup: -1, Settle: 7, Drain: time.Second, Cache: ProvedCold, SharedTokens: 1, ClientLimit: 4, MaxInFlight: 9,
				Runs: 6, Starts: 6, Seed: 1, Capacity: 14, Limits: Limits{1, 1, time.Hour, time.Hour, time.Hour, 1, math.Inf(1), 1, 1},
			}
		}, ""},
		{"no workload", func(p *Point) { p.Workload = nil },
			"benchtest: Point.Workload must be set, got nil: use one of package fixtures or your own"},
		{"workload that is not valid", func(p *Point) { p.Workload = complaining{} },
			"benchtest: Point.Workload: median must be positive, got 0"},
		{"workload that panics", func(p *Point) { p.Workload = workload(func(int, uint64, uint64) engines.Request { panic("no") }) },
			"benchtest: Point.Workload: Request(0) panicked: no"},
		{"workload without output", func(p *Point) { p.Workload = prompts{16, 0} },
			"benchtest: Point.Workload: Request(0).MaxTokens must be positive, got 0"},
		{"workload without prompt", func(p *Point) { p.Workload = prompts{0, 16} },
			"benchtest: Point.Workload: Request(0) has an empty prompt: set Tokens or Text"},
		{"workload with too large a minimum", func(p *Point) {
			p.Workload = workload(func(int, uint64, uint64) engines.Request {
				return engines.Request{Text: "a", MaxTokens: 2, MinTokens: 3}
			})
		}, "benchtest: Point.Workload: Request(0).MinTokens must be from 0 to MaxTokens, got 3 of 2"},
		{"no load", func(p *Point) { p.Arrivals = nil },
			"benchtest: exactly one of Point.Arrivals and Point.Closed must be set, got neither: as in Arrivals: arrival.Poisson{Rate: 4}"},
		{"two loads", func(p *Point) { p.Closed.InFlight = 2 },
			"benchtest: exactly one of Point.Arrivals and Point.Closed must be set, got both (poisson 4/s and 2 in flight)"},
		{"less than none in flight", func(p *Point) { p.Arrivals, p.Closed.InFlight = nil, -1 },
			"benchtest: Point.Closed.InFlight must not be negative, got -1: use 1 or more, or 0 for an open loop"},
		{"arrivals that are not valid", func(p *Point) { p.Arrivals = arrival.Poisson{} },
			"benchtest: Point.Arrivals: arrival: Poisson.Rate must be positive and at most 1,000,000/s, got 0: set arrivals per second"},
		{"no size", func(p *Point) { p.Requests = 0 },
			"benchtest: exactly one of Point.Requests and Point.Window must be set, got neither: as in Requests: 300"},
		{"two sizes", func(p *Point) { p.Window = time.Minute },
			"benchtest: exactly one of Point.Requests and Point.Window must be set, got both (300 and 1m0s)"},
		{"negative requests", func(p *Point) { p.Requests = -1 }, "benchtest: Point.Requests must be positive, got -1"},
		{"negative window", func(p *Point) { p.Requests, p.Window = 0, -time.Second }, "benchtest: Point.Window must be positive, got -1s"},
		{"negative drain", func(p *Point) { p.Drain = -1 }, "benchtest: Point.Drain must not be negative, got -1ns: use 0 for 1m0s"},
		{"unknown cache", func(p *Point) { p.Cache = "icy" }, `benchtest: Point.Cache must be Cold, ProvedCold or Warm, got "icy"`},
		{"shares more than all", func(p *Point) { p.SharedTokens = 1.5 }, "benchtest: Point.SharedTokens must be from 0 to 1, got 1.5: it is a share of the prompt tokens"},
		{"shares NaN", func(p *Point) { p.SharedTokens = math.NaN() }, "benchtest: Point.SharedTokens must be from 0 to 1, got NaN: it is a share of the prompt tokens"},
		{"negative client limit", func(p *Point) { p.ClientLimit = -2 }, "benchtest: Point.ClientLimit must not be negative, got -2: use 0 for no limit"},
		{"client limit in a closed loop", func(p *Point) { p.Arrivals, p.Closed.InFlight, p.ClientLimit = nil, 4, 2 },
			"benchtest: Point.ClientLimit must be 0 in a closed loop, got 2: Closed.InFlight is its limit"},
		{"negative cap", func(p *Point) { p.MaxInFlight = -2 }, "benchtest: Point.MaxInFlight must not be negative, got -2: use 0 for no cap"},
		{"cap of a closed loop", func(p *Point) { p.Arrivals, p.Closed.InFlight, p.MaxInFlight = nil, 4, 4 },
			"benchtest: Point.MaxInFlight must be more than Closed.InFlight, got 4 for 4 in flight"},
		{"infinite capacity", func(p *Point) { p.Capacity = math.Inf(1) },
			"benchtest: Point.Capacity must be finite and not negative, got +Inf: use requests a second, or 0 for unknown"},
		{"negative runs", func(p *Point) { p.Runs = -1 }, "benchtest: Point.Runs must not be negative, got -1: use 0 for 3"},
		{"negative starts", func(p *Point) { p.Starts = -1 }, "benchtest: Point.Starts must not be negative, got -1: use 0 for 1"},
		{"more starts than runs", func(p *Point) { p.Starts = 4 }, "benchtest: Point.Starts must be at most the number of runs, got 4 for 3 runs"},
		{"name with a slash", func(p *Point) { p.Name = "a/b" },
			`benchtest: Point.Name must be at most 100 letters, digits and - _ . with no dot at its ends, got "a/b": it is part of file names`},
		{"name of dots", func(p *Point) { p.Name = ".." },
			`benchtest: Point.Name must be at most 100 letters, digits and - _ . with no dot at its ends, got "..": it is part of file names`},
		{"limit NaN", func(p *Point) { p.Limits.ErrorRate = math.NaN() }, "benchtest: Point.Limits.ErrorRate must not be negative, got NaN: use 0 for the default"},
		{"negative stamp", func(p *Point) { p.Limits.Stamp = -1 }, "benchtest: Point.Limits.Stamp must not be negative, got -1ns: use 0 for 1ms"},
		{"negative wake", func(p *Point) { p.Limits.Wake = -1 }, "benchtest: Point.Limits.Wake must not be negative, got -1ns: use 0 for 5ms"},
		{"negative lag", func(p *Point) { p.Limits.Lag = -1 }, "benchtest: Point.Limits.Lag must not be negative, got -1ns: use 0 for 5ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Point{Workload: prompts{16, 4}, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300}
			c.edit(&p)
			err := p.Validate()
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestValidateReportsEverythingAtOnce(t *testing.T) {
	err := Point{Requests: -1, Drain: -1, Runs: -1, Limits: Limits{Lag: -1, Cached: -1}}.Validate()
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 7)
}

// complaining is a workload that is not valid.
type complaining struct{ prompts }

func (complaining) Validate() error { return errors.New("median must be positive, got 0") }
