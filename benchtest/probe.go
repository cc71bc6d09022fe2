package benchtest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

const (
	// leastInFlight is where a climb begins, and mostInFlight where it ends.
	leastInFlight, mostInFlight = 8, 1024
	// levelGain is what twice as many in flight must add for the climb to go
	// on.
	levelGain = 0.05
	// A run of a probe lets all slots turn over once to warm up, three times
	// to settle (the least that is valid) and four times in its window, of at
	// least 100 requests in a climb and 200 in the measurement.
	probeWarmup, probeSettle, probeWindow = 1, 3, 4
	climbRequests, probeRequests          = 100, 200
	// probeRuns is the number of runs of the measurement, and probeT the 0.975
	// quantile of Student's t with one degree of freedom less.
	probeRuns, probeT = 3, 4.303
)

// Probe is a closed loop that finds an engine's capacity.
type Probe struct {
	// Workload makes the requests: those of the points to come.
	Workload Workload
	// InFlight is the number of requests in flight to measure at: the engine's
	// largest number of sequences, where it is known. Zero climbs in one run
	// each of 8, 16, 32, … in flight until twice as many add less than 5 % of
	// tokens a second, up to 1,024.
	InFlight int
	// Cache and SharedTokens are as in Point.
	Cache        Cache
	SharedTokens float64
}

// ProbeCapacity measures the rate at which the engine serves the workload when
// it always has enough of it: three runs of a closed loop, after a climb to
// where more in flight adds nothing. The runs take eight turns of all slots
// each, about two minutes together where a request takes 5 s at saturation, and
// the climb somewhat longer.
//
// Use it once for an engine and a class of machines, on a build that is fine,
// and write what it prints into the test (see Capacity for why a test must not
// probe). Nothing judges a closed loop's rate as a regression: it halves one.
//
// Of the options, Config.Runs is ignored. A run that cannot be trusted, a
// climb that does not level off, and what Run returns as an error are errors.
func ProbeCapacity(ctx context.Context, engine engines.Engine, p Probe, o Options) (Probed, error) {
	if p.InFlight < 0 {
		return Probed{}, fmt.Errorf("benchtest: Probe.InFlight must not be negative, got %d: use 0 to climb", p.InFlight)
	}
	if err := p.point(max(p.InFlight, 1), 1).Validate(); err != nil {
		return Probed{}, err
	}
	o.Config.Runs = 0
	found := Probed{InFlight: p.InFlight}
	if p.InFlight == 0 {
		if err := found.climb(ctx, engine, p, o); err != nil {
			return Probed{}, err
		}
	}
	point := p.point(found.InFlight, probeRequests)
	point.Runs = probeRuns
	records, err := probe(ctx, engine, point, o)
	if err != nil {
		return Probed{}, err
	}
	return found, found.measure(records)
}

// point is that of so many in flight. Its window is of whole turns of the
// slots: requests of equal length end in bursts, once a turn, and the time from
// one burst to a part of another is no measure of the rate.
func (p Probe) point(inFlight, requests int) Point {
	turns := max(probeWindow, (requests+inFlight-1)/inFlight)
	return Point{
		Name: fmt.Sprintf("probe-%d", inFlight), Workload: p.Workload, Closed: Closed{InFlight: inFlight},
		Requests: turns * inFlight, Warmup: probeWarmup * inFlight, Settle: probeSettle * inFlight,
		Cache: p.Cache, SharedTokens: p.SharedTokens, Runs: 1,
	}
}

// probe makes the runs of a point, which must be valid.
func probe(ctx context.Context, engine engines.Engine, p Point, o Options) ([]*metric.Record, error) {
	runs, err := Run(ctx, engine, p, o)
	if err != nil {
		return nil, fmt.Errorf("benchtest: probe with %d in flight: %w", p.Closed.InFlight, err)
	}
	for _, r := range runs.Records {
		for _, why := range r.Problems {
			return nil, fmt.Errorf("benchtest: probe with %d in flight: run %d cannot be trusted: %s: %s", p.Closed.InFlight, r.Run, why.Kind, why.Text)
		}
	}
	return runs.Records, nil
}

// climb finds the number in flight from which on more adds little.
func (f *Probed) climb(ctx context.Context, engine engines.Engine, p Probe, o Options) error {
	before := 0.0
	for n := leastInFlight; n <= mostInFlight; n *= 2 {
		records, err := probe(ctx, engine, p.point(n, climbRequests), o)
		if err != nil {
			return err
		}
		level := Level{InFlight: n}
		if level.Rate, err = records[0].Value("completed-req/s"); err != nil {
			return fmt.Errorf("benchtest: probe with %d in flight: %w", n, err)
		}
		f.Levels = append(f.Levels, level)
		work := worked(records[0], level.Rate)
		if work < (1+levelGain)*before {
			f.InFlight = n / 2
			return nil
		}
		before = work
	}
	return fmt.Errorf("benchtest: probe: the rate still rises at %d in flight, to %.3g req/s: set Probe.InFlight to the engine's largest number of sequences", mostInFlight, f.Levels[len(f.Levels)-1].Rate)
}

// worked is what was done a second: tokens, since requests of different
// lengths are different work, or requests where the engine counts no tokens.
func worked(r *metric.Record, rate float64) float64 {
	if tokens, err := r.Value("total-tok/s"); err == nil {
		return tokens
	}
	return rate
}

// measure takes the rates of the runs.
func (f *Probed) measure(records []*metric.Record) error {
	mean := func(name string) (mean, sd float64, err error) {
		var values []float64
		for _, r := range records {
			v, err := r.Value(name)
			if err != nil {
				return 0, 0, err
			}
			values = append(values, v)
			mean += v / float64(len(records))
		}
		for _, v := range values {
			sd += (v - mean) * (v - mean) / float64(len(values)-1)
		}
		return mean, math.Sqrt(sd), nil
	}
	rate, sd, err := mean("completed-req/s")
	if err != nil {
		return fmt.Errorf("benchtest: probe with %d in flight: %w", f.InFlight, err)
	}
	if !(rate > 0) {
		return errors.New("benchtest: probe: no request ended in the windows, so nothing is known of the capacity")
	}
	half := probeT * sd / math.Sqrt(float64(len(records)))
	f.Rate, f.Low, f.High = rate, max(0, rate-half), rate+half
	// Tokens are told where the engine counts them.
	f.PromptTokens, _, _ = mean("prompt-tok/s")
	f.OutputTokens, _, _ = mean("output-tok/s")
	for _, p := range records[0].Key {
		f.On = append(f.On, p.Value)
	}
	return nil
}
