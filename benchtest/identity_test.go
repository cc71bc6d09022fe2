package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

func TestPairs(t *testing.T) {
	p := Point{Workload: prompts{16, 4}, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300}
	assert.Equal(t, []metric.Pair{
		{Key: "workload", Value: "prompts(16/4)"},
		{Key: "workload-hash", Value: "9e86d38cc28d"},
		{Key: "arrivals", Value: "poisson 4/s"},
		{Key: "requests", Value: "300"},
		{Key: "warmup", Value: "50"},
		{Key: "settle", Value: "50"},
		{Key: "drain", Value: "1m0s"},
		{Key: "cache", Value: "cold"},
	}, p.Pairs())
	full := Point{
		Workload: prompts{16, 4}, Closed: Closed{InFlight: 64}, Window: time.Hour, Warmup: -1, Settle: 7, Drain: time.Second,
		Cache: Warm, SharedTokens: 0.25, MaxInFlight: 99, Seed: 5,
	}
	assert.Equal(t, []metric.Pair{
		{Key: "workload", Value: "prompts(16/4)"},
		{Key: "workload-hash", Value: "9e86d38cc28d"},
		{Key: "in-flight", Value: "64"},
		{Key: "window", Value: "1h0m0s"},
		{Key: "warmup", Value: "0"},
		{Key: "settle", Value: "7"},
		{Key: "drain", Value: "1s"},
		{Key: "cache", Value: "warm"},
		{Key: "shared-tokens", Value: "0.25"},
		{Key: "max-in-flight", Value: "99"},
		{Key: "seed", Value: "5"},
	}, full.Pairs())
}

// Two runs compare only at the same point: what changes the measurement
// changes the hash, and nothing else does.
func TestHash(t *testing.T) {
	base := Point{Workload: prompts{16, 4}, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300}
	for _, c := range []struct {
		name string
		edit func(*Point)
		same bool
	}{
		{"defaults written out", func(p *Point) { p.Warmup, p.Settle, p.Drain = 50, 50, time.Minute }, true},
		{"another name", func(p *Point) { p.Name = "x" }, true},
		{"more runs", func(p *Point) { p.Runs, p.Starts = 12, 2 }, true},
		{"other limits", func(p *Point) { p.Limits.Lag = time.Second }, true},
		{"a known capacity", func(p *Point) { p.Capacity = 14 }, true},
		{"another rate", func(p *Point) { p.Arrivals = arrival.Poisson{Rate: 5} }, false},
		{"another process", func(p *Point) { p.Arrivals = arrival.Constant{Rate: 4} }, false},
		{"a closed loop", func(p *Point) { p.Arrivals, p.Closed.InFlight = nil, 4 }, false},
		{"more requests", func(p *Point) { p.Requests++ }, false},
		{"no warmup", func(p *Point) { p.Warmup = -1 }, false},
		{"another settle", func(p *Point) { p.Settle = 51 }, false},
		{"another drain", func(p *Point) { p.Drain = time.Second }, false},
		{"a warm cache", func(p *Point) { p.Cache = Warm }, false},
		{"a client limit", func(p *Point) { p.ClientLimit = 8 }, false},
		{"another seed", func(p *Point) { p.Seed = 1 }, false},
		{"another output length", func(p *Point) { p.Workload = prompts{16, 5} }, false},
		// The name is the same, and one system line has been put in front.
		{"other prompts under the same name", func(p *Point) { p.Workload = prefixed{prompts{16, 4}} }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := base
			c.edit(&p)
			assert.Equal(t, c.same, p.Hash() == base.Hash())
		})
	}
}

type prefixed struct{ prompts }

func (w prefixed) Request(i int, shape, content uint64) engines.Request {
	r := w.prompts.Request(i, shape, content)
	r.Tokens = append([]int32{1}, r.Tokens...)
	return r
}

func TestNames(t *testing.T) {
	w := prompts{16, 4}
	for _, c := range []struct {
		point       Point
		label, line string
	}{
		{Point{Workload: w, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300}, "poisson-4", "poisson 4/s, prompts(16/4), 300 requests a run"},
		{Point{Workload: w, Arrivals: arrival.Poisson{Rate: 12.5}, Window: 3 * time.Minute}, "poisson-12.5", "poisson 12.5/s, prompts(16/4), windows of 3m0s"},
		{Point{Workload: w, Closed: Closed{InFlight: 64}, Requests: 9}, "closed-64", "closed loop, 64 in flight, prompts(16/4), 9 requests a run"},
		{Point{Workload: w, Closed: Closed{InFlight: 1}, Requests: 9}, "serial", "serial, closed loop, prompts(16/4), 9 requests a run"},
		{Point{Workload: w, Arrivals: once{}, Requests: 9, ClientLimit: 2}, "benchtest.once", "benchtest.once{}, prompts(16/4), 9 requests a run, client limit 2"},
		{Point{Name: "mine", Workload: varied{}, Closed: Closed{InFlight: 1}, Requests: 9}, "mine", "serial, closed loop, benchtest.varied, 9 requests a run"},
		{Point{}, "none", "none, no workload, 0 requests a run"},
	} {
		assert.Equal(t, c.label, c.point.Label())
		assert.Equal(t, c.line, c.point.String())
	}
}

func TestDefaultPhases(t *testing.T) {
	for _, c := range []struct {
		name  string
		point Point
		want  int
	}{
		{"a tenth of the requests", Point{Arrivals: arrival.Poisson{Rate: 4}, Requests: 2001}, 201},
		{"at least fifty", Point{Arrivals: arrival.Poisson{Rate: 4}, Requests: 30}, 50},
		{"a tenth of what a window expects", Point{Arrivals: arrival.Poisson{Rate: 12.5}, Window: 3 * time.Minute}, 225},
		{"a tenth of what a trace holds", Point{Arrivals: trace{1000, time.Second}, Window: 900 * time.Second}, 90},
		{"four turns of all slots", Point{Closed: Closed{InFlight: 64}, Requests: 2000}, 256},
		{"a closed loop in time", Point{Closed: Closed{InFlight: 2}, Window: time.Hour}, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.point.orDefaults()
			assert.Equal(t, c.want, p.Warmup)
			assert.Equal(t, c.want, p.Settle)
		})
	}
}

// The seeds of a baseline must be those of today, on every machine.
func TestSeedsAreWrittenInStone(t *testing.T) {
	assert.Equal(t, uint64(0x6e340b9cffb37a98), derive(""))
	assert.Equal(t, uint64(0x14a85b87bd781e3), pairSeed("0123456789ab", 0, 0))
	assert.Equal(t, uint64(0x6d1cff1ea356b90d), pairSeed("0123456789ab", 0, 1))
	assert.Equal(t, uint64(0xf5c3c6b31f2b474a), pairSeed("0123456789ab", 1, 0))
	assert.Equal(t, seeds{0x7, 0x31934fba0a9b127e, 0x9d295c7527af1ab8}, measuredSeeds(7, 9))
	assert.Equal(t, seeds{0x4bf7b9dbb6fc9d2c, 0xea5d188359dfc5cb, 0xfcd37ffbc9d09b2a}, warmupSeeds(7, 9))
	a, b := measuredSeeds(7, 9), measuredSeeds(7, 10)
	assert.Equal(t, a.arrivals, b.arrivals)
	assert.Equal(t, a.shape, b.shape)
	assert.NotEqual(t, a.content, b.content, "another start, other content")
}
