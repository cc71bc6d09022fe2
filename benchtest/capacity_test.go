package benchtest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// The rates are decimals, so that a point's name and hash are what is written.
func TestRatesOfACapacity(t *testing.T) {
	for _, row := range []struct {
		capacity    benchtest.Capacity
		quiet, knee string
	}{
		{14, "poisson 4.7/s", "poisson 12.3/s"},
		{14.1, "poisson 4.7/s", "poisson 12.4/s"},
		{12, "poisson 4/s", "poisson 10.6/s"},
		{1, "poisson 0.33/s", "poisson 0.88/s"},
		{0.12, "poisson 0.04/s", "poisson 0.106/s"},
		{350, "poisson 120/s", "poisson 308/s"},
	} {
		quiet, knee := row.capacity.Quiet(chat), row.capacity.Knee(chat)
		if got := arrival.String(quiet.Arrivals); got != row.quiet {
			t.Errorf("%v: quiet is %s, want %s", row.capacity, got, row.quiet)
		}
		if got := arrival.String(knee.Arrivals); got != row.knee {
			t.Errorf("%v: the knee is %s, want %s", row.capacity, got, row.knee)
		}
		for _, p := range []benchtest.Point{row.capacity.Serial(chat), quiet, knee} {
			if err := p.Validate(); err != nil {
				t.Errorf("%v: %v", row.capacity, err)
			}
		}
		if quiet.Capacity != float64(row.capacity) || knee.Capacity != float64(row.capacity) {
			t.Errorf("%v: the points do not carry it: %v, %v", row.capacity, quiet.Capacity, knee.Capacity)
		}
	}
}

func TestACapacityThatIsNone(t *testing.T) {
	for _, row := range []struct {
		capacity benchtest.Capacity
		want     string
	}{
		{0, "benchtest: Point.Arrivals: arrival: Poisson.Rate must be positive and at most 1,000,000/s, got 0: set arrivals per second"},
		{-3, "benchtest: Point.Arrivals: arrival: Poisson.Rate must be positive and at most 1,000,000/s, got -1: set arrivals per second\n" +
			"benchtest: Point.Capacity must be finite and not negative, got -3: use requests a second, or 0 for unknown"},
		{benchtest.Capacity(math.NaN()), "benchtest: Point.Arrivals: arrival: Poisson.Rate must be positive and at most 1,000,000/s, got NaN: set arrivals per second\n" +
			"benchtest: Point.Capacity must be finite and not negative, got NaN: use requests a second, or 0 for unknown"},
		{benchtest.Capacity(math.Inf(1)), "benchtest: Point.Arrivals: arrival: Poisson.Rate must be positive and at most 1,000,000/s, got +Inf: set arrivals per second\n" +
			"benchtest: Point.Capacity must be finite and not negative, got +Inf: use requests a second, or 0 for unknown"},
	} {
		if err := row.capacity.Quiet(chat).Validate(); err == nil || err.Error() != row.want {
			t.Errorf("%v: got %v\nwant %s", float64(row.capacity), err, row.want)
		}
		if err := row.capacity.Serial(chat).Validate(); err != nil {
			t.Errorf("%v: the serial point needs no capacity: %v", float64(row.capacity), err)
		}
	}
}

// The three points are valid as they are, and the knee is sustained: twelve
// runs each, whose arrivals' luck differs.
func TestPointsOfACapacityAreValidRuns(t *testing.T) {
	const capacity benchtest.Capacity = 14
	for _, p := range []benchtest.Point{capacity.Serial(chat), capacity.Quiet(chat), capacity.Knee(chat)} {
		p.Runs = 12
		engine, err := sim.NewModel(sim.Config{DevMode: true, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		runs, err := benchtest.Run(t.Context(), engine, p, benchtest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs.Records {
			if !r.Valid() {
				t.Errorf("%s: run %d: %v", p.Label(), r.Run, r.Problems)
			}
		}
		if p.Arrivals == nil {
			continue
		}
		v, err := steady.JudgeRecords(runs.Records[:3]...)
		if err != nil {
			t.Fatal(err)
		}
		if v.State != steady.Sustained {
			t.Errorf("%s: %v", p.Label(), v)
		}
	}
}

// A probe finds what the model's arithmetic says, whatever the engine's slots.
func TestAProbeFindsTheCapacity(t *testing.T) {
	mixed := fixtures.Lengths{Prompt: fixtures.LogNormal{Median: 1000, Sigma: 0.5, Min: 16, Max: 4000}, Output: fixtures.Uniform{Min: 64, Max: 256}}
	for _, row := range []struct {
		name     string
		config   sim.Config
		workload benchtest.Workload
		given    int
		inFlight int
		rate     float64 // by sim.Profile.Capacity; 0 for none
	}{
		{"the default engine", sim.Config{}, chat, 0, 64, sim.Llama3H100.Capacity(64, 2048, 256)},
		{"its slots given", sim.Config{}, chat, 64, 64, sim.Llama3H100.Capacity(64, 2048, 256)},
		{"sixteen slots", sim.Config{MaxNumSeqs: 16}, chat, 0, 16, sim.Llama3H100.Capacity(16, 2048, 256)},
		{"one slot", sim.Config{MaxNumSeqs: 1}, chat, 0, 8, sim.Llama3H100.Capacity(1, 2048, 256)},
		{"lengths that differ", sim.Config{}, mixed, 0, 64, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.DevMode, row.config.Noise = true, sim.Quiet
			engine, err := sim.NewModel(row.config)
			if err != nil {
				t.Fatal(err)
			}
			found, err := benchtest.ProbeCapacity(t.Context(), engine, benchtest.Probe{Workload: row.workload, InFlight: row.given}, benchtest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if found.InFlight != row.inFlight {
				t.Errorf("%d in flight, want %d:\n%v", found.InFlight, row.inFlight, found)
			}
			if row.rate > 0 && math.Abs(found.Rate/row.rate-1) > 0.02 {
				t.Errorf("%.3f req/s, want %.3f ± 2 %%:\n%v", found.Rate, row.rate, found)
			}
			if !(found.Low <= found.Rate && found.Rate <= found.High) {
				t.Errorf("%.3f is not in its interval %.3f … %.3f", found.Rate, found.Low, found.High)
			}
			if (len(found.Levels) == 0) != (row.given > 0) {
				t.Errorf("levels %v with %d given", found.Levels, row.given)
			}
		})
	}
}

// The interval contains the capacity in about 95 % of the engines: 60 with
// noise of their own, of which at least 51 are asked for (the probability of
// fewer is below 1 % if the interval is right).
func TestTheIntervalOfAProbe(t *testing.T) {
	truth := 0.0
	var probed []benchtest.Probed
	for seed := range 60 {
		engine, err := sim.NewModel(sim.Config{DevMode: true, Seed: uint64(100 + seed)})
		if err != nil {
			t.Fatal(err)
		}
		found, err := benchtest.ProbeCapacity(t.Context(), engine, benchtest.Probe{Workload: chat, InFlight: 64}, benchtest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		probed = append(probed, found)
		truth += found.Rate / 60
	}
	covered := 0
	for _, f := range probed {
		if f.Low <= truth && truth <= f.High {
			covered++
		}
	}
	if covered < 51 {
		t.Errorf("%d of 60 intervals contain %.2f req/s, want at least 51", covered, truth)
	}
}

func TestAProbeThatCannotBeMade(t *testing.T) {
	failing := sim.Config{DevMode: true, Faults: sim.Faults{ErrorShare: 0.2}}
	for _, row := range []struct {
		name   string
		config sim.Config
		probe  benchtest.Probe
		want   string
	}{
		{"fewer than none in flight", sim.Config{}, benchtest.Probe{Workload: chat, InFlight: -1}, "benchtest: Probe.InFlight must not be negative, got -1: use 0 to climb"},
		{"no workload", sim.Config{}, benchtest.Probe{}, "benchtest: Point.Workload must be set, got nil: use one of package fixtures or your own"},
		{"an engine that fails", failing, benchtest.Probe{Workload: chat}, "benchtest: probe with 8 in flight: run 0 cannot be trusted: errors: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			engine, err := sim.NewModel(row.config)
			if err != nil {
				t.Fatal(err)
			}
			found, err := benchtest.ProbeCapacity(t.Context(), engine, row.probe, benchtest.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got %v\nwant %s", err, row.want)
			}
			if fmt.Sprintf("%+v", found) != fmt.Sprintf("%+v", benchtest.Probed{}) {
				t.Errorf("something was found: %+v", found)
			}
		})
	}
}

// Over HTTP, in virtual time, with the configuration of a test: the number of
// runs is the probe's own.
func TestAProbeOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := sim.New(t, sim.Config{DevMode: true, Noise: sim.Quiet, MaxNumSeqs: 8})
		o := benchtest.Options{Log: t.Logf}
		o.Config.Runs = 7
		short := fixtures.Lengths{Prompt: fixtures.Fixed(256), Output: fixtures.Fixed(32)}
		found, err := benchtest.ProbeCapacity(t.Context(), engine, benchtest.Probe{Workload: short, InFlight: 8}, o)
		if err != nil {
			t.Fatal(err)
		}
		want := sim.Llama3H100.Capacity(8, 256, 32)
		if math.Abs(found.Rate/want-1) > 0.05 || !strings.Contains(found.String(), "(t over 3 runs), 8 in flight") {
			t.Errorf("want %.1f req/s, got\n%v", want, found)
		}
	})
}
