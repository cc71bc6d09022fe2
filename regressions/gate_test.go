package regressions_test

import (
	"math"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

func TestGateValidates(t *testing.T) {
	metrics := func(m ...regressions.Metric) []regressions.Metric { return m }
	for _, g := range []regressions.Gate{
		{},
		{Margin: 0.10, FalseAlarms: 0.01, Gates: 40, Looks: []int{3, 6, 12}},
		{Metrics: metrics(regressions.Metric{Name: "p99-ttft-sec", Margin: 0.3}, regressions.Metric{Name: "error-rate", Margin: 0.01}, regressions.Metric{Name: "output-tok/s", Watch: true})},
	} {
		assert.NoError(t, g.Validate(), "%+v", g)
	}
	for _, row := range []struct {
		gate regressions.Gate
		want string
	}{
		{regressions.Gate{Margin: -0.05}, "regressions: Gate.Margin must be from 0 (the default, 0.05) to 1, got -0.05"},
		{regressions.Gate{Margin: 5}, "regressions: Gate.Margin must be from 0 (the default, 0.05) to 1, got 5"},
		{regressions.Gate{Margin: math.NaN()}, "regressions: Gate.Margin must be from 0 (the default, 0.05) to 1, got NaN"},
		{regressions.Gate{FalseAlarms: 0.3}, "regressions: Gate.FalseAlarms must be from 1e-06 to 0.2, or 0 for the default of 0.025, got 0.3"},
		{regressions.Gate{FalseAlarms: math.Inf(1)}, "regressions: Gate.FalseAlarms must be from 1e-06 to 0.2, or 0 for the default of 0.025, got +Inf"},
		{regressions.Gate{Gates: -1}, "regressions: Gate.Gates must be from 1 to 10000, or 0 for one, got -1"},
		{regressions.Gate{Gates: math.MaxInt}, "regressions: Gate.Gates must be from 1 to 10000, or 0 for one, got 9223372036854775807"},
		{regressions.Gate{Looks: []int{1, 2}}, "regressions: Gate.Looks: the first is at 1 runs, need at least 3"},
		{regressions.Gate{Looks: []int{}}, "regressions: Gate.Looks: none given, need at least one number of runs"},
		{regressions.Gate{Metrics: metrics()}, ""},
		{regressions.Gate{Metrics: []regressions.Metric{}}, "regressions: Gate.Metrics is empty, which gates nothing: leave it nil for the default set"},
		{regressions.Gate{Metrics: metrics(regressions.Metric{Name: "tpot"})}, `regressions: Gate.Metrics[0].Name: unknown metric "tpot": see metric.Names, as in p50-tpot-sec`},
		{regressions.Gate{Metrics: metrics(regressions.Metric{Name: "mean-output-tokens"})}, "regressions: Gate.Metrics[0].Name: mean-output-tokens describes the work done and is neither better nor worse: it is guarded always"},
		{regressions.Gate{Metrics: metrics(regressions.Metric{Name: "p99-lag-sec"})}, "regressions: Gate.Metrics[0].Name: p99-lag-sec is the load generator's, not the engine's: a late one makes a run invalid"},
		{regressions.Gate{Metrics: metrics(regressions.Metric{Name: "p50-tpot-sec", Margin: -1})}, "regressions: Gate.Metrics[0].Margin of p50-tpot-sec must be from 0 (the gate's) to 1, got -1"},
		{regressions.Gate{Metrics: metrics(regressions.Metric{Name: "p50-tpot-sec", Watch: true})}, "regressions: Gate.Metrics: all 1 are only watched, so nothing would have to pass"},
		// Everything wrong at once.
		{regressions.Gate{Margin: 2, Gates: -3, Looks: []int{5, 3}, Metrics: metrics(regressions.Metric{Name: "p50-tpot-sec"}, regressions.Metric{Name: "p50-tpot-sec"})},
			"regressions: Gate.Margin must be from 0 (the default, 0.05) to 1, got 2\n" +
				"regressions: Gate.Gates must be from 1 to 10000, or 0 for one, got -3\n" +
				"regressions: Gate.Looks: [5 3] do not increase\n" +
				"regressions: Gate.Metrics[1].Name: p50-tpot-sec is listed twice"},
	} {
		if row.want == "" {
			assert.NoError(t, row.gate.Validate())
			continue
		}
		assert.EqualError(t, row.gate.Validate(), row.want)
		b, candidate := arms(1, quiet, quiet)
		v := regressions.Judge(b, candidate(3), row.gate)
		assert.Equal(t, regressions.Invalid, v.Status)
		assert.Equal(t, row.want, v.Reason)
	}
}

// Each margin is the metric's own, the gate's, or the default's.
func TestMargins(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	margins := func(g regressions.Gate) map[string]float64 {
		out := map[string]float64{}
		for _, f := range regressions.Judge(b, candidate(3), g).Findings {
			out[f.Metric] = f.Margin
		}
		return out
	}
	assert.Equal(t, map[string]float64{"p50-tpot-sec": 0.05, "p50-e2e-sec": 0.05, "p50-ttft-sec": 0.10, "error-rate": 0.005}, margins(regressions.Gate{}))
	assert.Equal(t, map[string]float64{"p50-tpot-sec": 0.08, "p50-e2e-sec": 0.08, "p50-ttft-sec": 0.16, "error-rate": 0.005}, margins(regressions.Gate{Margin: 0.08}))
	named := regressions.Gate{Margin: 0.08, Metrics: []regressions.Metric{{Name: "p50-ttft-sec"}, {Name: "p50-e2e-sec", Margin: 0.03}, {Name: "error-rate"}}}
	assert.Equal(t, map[string]float64{"p50-ttft-sec": 0.08, "p50-e2e-sec": 0.03, "error-rate": 0.005}, margins(named))
}

// The rate of false alarms is that of the whole job.
func TestLevels(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	one := regressions.Gate{Metrics: []regressions.Metric{{Name: "error-rate"}}}
	v := regressions.Judge(b, candidate(3), one)
	assert.Equal(t, []any{1, 0.025, 0.0077}, []any{v.Comparisons, v.FalseAlarms, v.Level})
	v = regressions.Judge(b, candidate(3), regressions.Gate{})
	assert.Equal(t, 4, v.Comparisons)
	v = regressions.Judge(b, candidate(3), regressions.Gate{Gates: 5, FalseAlarms: 0.05})
	assert.Equal(t, []any{20, 0.05}, []any{v.Comparisons, v.FalseAlarms})
	assert.InDelta(t, 0.00068, v.Level, 1e-9)
}
