package regressions_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
)

// engine is an additive model of what runs vary by, as standard deviations of
// the logarithm: the luck of the arrivals, which every arm shares, the run and
// the start.
type engine struct {
	arrivals, run, start float64
	// slower is the true change of TPOT.
	slower float64
}

var (
	point = []metric.Pair{
		{Key: "workload", Value: "chat(2048/256)"},
		{Key: "arrivals", Value: "poisson 4/s"},
		{Key: "requests", Value: "300"},
	}
	// closed is the point of what has a throughput to gate.
	closed = []metric.Pair{
		{Key: "workload", Value: "chat(2048/256)"},
		{Key: "in-flight", Value: "64"},
		{Key: "requests", Value: "300"},
	}
	key      = []metric.Pair{{Key: "hardware", Value: "1x H100 SXM 80GB"}, {Key: "engine", Value: "vllm"}}
	recorded = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
)

// arm is an arm of n runs over starts, in blocks, with the values that of
// gives each run.
func arm(n, starts int, of func(i int) map[string]float64) regressions.Arm {
	a := regressions.Arm{
		Test: "TestDecodeDidNotSlowDown", PointName: "poisson-4", Schema: metric.Schema,
		Point: slices.Clone(point), PointHash: metric.Hash(point), Key: slices.Clone(key),
		Identity: []metric.Pair{{Key: "version", Value: "0.21.0"}},
		Cache:    "flushed",
	}
	for i := range n {
		s := i * starts / max(n, 1)
		a.Runs = append(a.Runs, regressions.Run{
			Index: i, Seed: 1000 + uint64(i), Start: s, StartID: fmt.Sprintf("%c", 'a'+s),
			Time: recorded.Add(time.Duration(i) * time.Minute), Values: of(i), Missing: map[string]string{},
		})
		if _, ok := a.Runs[i].Values["output-tok/s"]; ok {
			a.PointName, a.Point, a.PointHash = "closed-64", slices.Clone(closed), metric.Hash(closed)
		}
	}
	return a
}

// stored is an arm as a baseline.
func stored(a regressions.Arm) *regressions.Baseline {
	return &regressions.Baseline{Arm: a, Recorded: recorded, Commit: "3f2c9a1b77"}
}

// latest gives an arm starts of another day, which are never the baseline's.
func latest(a regressions.Arm) regressions.Arm {
	for i := range a.Runs {
		a.Runs[i].StartID += "-new"
		a.Runs[i].Time = a.Runs[i].Time.AddDate(0, 0, 7)
	}
	return a
}

// values draws runs of the model around the medians of an 8B model at a quiet
// load: TPOT 5.78 ms, 256 tokens, TTFT 39 ms.
func (e engine) values(luck, noise *rand.Rand, n, starts int) []map[string]float64 {
	effect := make([]float64, starts)
	for i := range effect {
		effect[i] = e.start * noise.NormFloat64()
	}
	out := make([]map[string]float64, n)
	for i := range out {
		l, r := e.arrivals*luck.NormFloat64()+effect[i*starts/n], e.run*noise.NormFloat64()
		tpot := 0.00578 * math.Exp(l+r) * (1 + e.slower)
		ttft := 0.039 * math.Exp(l+r) * (1 + e.slower/4)
		out[i] = map[string]float64{
			"p50-tpot-sec": tpot, "p50-ttft-sec": ttft, "p50-e2e-sec": ttft + 255*tpot,
			"error-rate": 0, "mean-output-tokens": 256, "mean-prompt-tokens": 2048, "cached-share": 0,
		}
	}
	return out
}

// arms are a baseline of 12 runs over two starts and candidates of up to 12
// runs of one start, with the same arrivals.
func arms(seed uint64, old, now engine) (*regressions.Baseline, func(n int) regressions.Arm) {
	base := old.values(rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2)), 12, 2)
	cand := now.values(rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 3)), 12, 1)
	b := stored(arm(12, 2, func(i int) map[string]float64 { return base[i] }))
	return b, func(n int) regressions.Arm {
		return latest(arm(n, 1, func(i int) map[string]float64 { return cand[i] }))
	}
}

// gate runs the looks as NoRegression does.
func gate(b *regressions.Baseline, candidate func(n int) regressions.Arm, g regressions.Gate) (regressions.Verdict, int) {
	n := 3
	for {
		v := regressions.Judge(b, candidate(n), g)
		if v.NextLook == 0 {
			return v, n
		}
		n = v.NextLook
	}
}

// only is an arm of runs that have one metric.
func only(name string, xs ...float64) regressions.Arm {
	return arm(len(xs), 1, func(i int) map[string]float64 { return map[string]float64{name: xs[i]} })
}

// luck and noise are the sources of a baseline's runs: the arrivals' luck is
// that of the candidate of the same seed.
func luck(seed int) *rand.Rand  { return rand.New(rand.NewPCG(uint64(seed), 1)) }
func noise(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 2)) }
