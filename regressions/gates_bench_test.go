package regressions_test

import (
	"sync/atomic"
	"testing"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/regressions"
)

// BenchmarkGates is how many gates are simulated in a minute, on as many cores
// as there are: each an unchanged build in runs of 2,000 requests behind 200 of
// warmup and 200 to settle, at a third of capacity, until the verdict is clear,
// against a baseline of twelve such runs. Eight baselines serve all gates.
func BenchmarkGates(b *testing.B) {
	quiet := load{name: "quiet", point: benchtest.Point{Arrivals: arrival.Poisson{Rate: 4}, Requests: 2000, Capacity: 14.1}}
	j := job{gate: regressions.Gate{}}
	bases := make([]*build, 8)
	for i := range bases {
		bases[i] = newBuild(sim.Config{Seed: uint64(500_000 + i)}, false)
		if _, err := bases[i].measure(b.Context(), quiet, baselineRuns, baselineStarts); err != nil {
			b.Fatal(err)
		}
	}
	var seed, runs atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := seed.Add(1)
			s := j.noRegression(b.Context(), quiet, bases[n%8], newBuild(sim.Config{Seed: uint64(n)}, false))
			if !s.status.Green() {
				b.Logf("engine %d: %s", n, s.why)
			}
			runs.Add(int64(s.runs))
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Minutes(), "gates/min")
	b.ReportMetric(float64(runs.Load())/float64(b.N), "runs/gate")
}
