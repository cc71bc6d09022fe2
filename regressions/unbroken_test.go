package regressions_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Runs whose goodput is of another SLO do not join a baseline, nor a control.
func TestRunsOfAnotherSLODoNotJoin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "knee.bench")
	require.NoError(t, regressions.WriteBaseline(path, stored(nearKnee(12, objectives, 1)), false))
	for _, slo := range []string{"TTFT ≤ 100ms", ""} {
		more := stored(latest(nearKnee(3, slo, 0.8)))
		assert.ErrorContains(t, regressions.AppendStart(path, more), "their goodput is of another SLO, \""+slo+"\", where the baseline's is of \"TTFT ≤ 500ms, TPOT ≤ 40ms\"")
	}
	_, err := nearKnee(3, objectives, 1).Beside(nearKnee(3, "TTFT ≤ 100ms", 1))
	assert.ErrorContains(t, err, "their SLOs are")
}

// A noisy tail that happens to be less than half of what it was is no reason
// to distrust a measurement; one that is beyond chance is.
func TestSuspicionNeedsSignificance(t *testing.T) {
	pause := func(a regressions.Arm, seconds ...float64) regressions.Arm {
		return with(a, "max-itl-sec", func(i int) float64 { return seconds[i%len(seconds)] })
	}
	base := stored(pause(shaped(12, 2, 0.009, 1, 1), 0.020, 0.100))
	v := regressions.Judge(base, latest(pause(shaped(3, 1, 0.009, 1, 1), 0.020, 0.019, 0.021)), regressions.Gate{})
	assert.NotEqual(t, regressions.Invalid, v.Status, v.Text())
	v = regressions.Judge(base, latest(pause(shaped(12, 1, 0.009, 1, 1), 0.004, 0.021)), regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status, v.Text())
}

// A metric is found once, and what was gated is not told again as not gated.
func TestFindingsAreOfDifferentMetrics(t *testing.T) {
	late := with(shaped(12, 2, 0.009, 1, 1), "max-itl-sec", func(i int) float64 { return 0.060 })
	base := stored(with(shaped(12, 2, 0.009, 1, 1), "max-itl-sec", func(i int) float64 { return 0.020 }))
	v := regressions.Judge(base, latest(late), regressions.Gate{})
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.NotContains(t, v.Text(), "not gated")
}

// Values that no run can have are refused whoever made them, with the run.
func TestImpossibleValues(t *testing.T) {
	for _, row := range []struct {
		metric string
		value  float64
	}{
		{"error-rate", -1}, {"error-rate", 7}, {"cached-share", math.Inf(1)}, {"cached-share", -1}, {"cached-share", 7},
		{"mean-output-tokens", math.NaN()}, {"p50-tpot-sec", 0},
	} {
		for _, inBaseline := range []bool{false, true} {
			b, candidate := arms(3, quiet, quiet)
			a := candidate(3)
			bad := a
			if inBaseline {
				bad = b.Arm
			}
			bad.Runs[1].Values[row.metric] = row.value
			v := regressions.Judge(b, a, regressions.Gate{})
			assert.Equal(t, regressions.Invalid, v.Status, "%s %v: %s", row.metric, row.value, v.Text())
			assert.Contains(t, v.Reason, "run 1 has no valid", "%s %v", row.metric, row.value)
		}
	}
}

// What cannot be held against anything is refused or said.
func TestNothingIsTakenForGranted(t *testing.T) {
	change := func(edit func(b *regressions.Baseline, a *regressions.Arm)) regressions.Verdict {
		b, candidate := arms(3, quiet, quiet)
		a := candidate(3)
		edit(b, &a)
		return regressions.Judge(b, a, regressions.Gate{})
	}
	drop := func(a regressions.Arm, name string, runs int) {
		for _, r := range a.Runs[:runs] {
			delete(r.Values, name)
		}
	}
	for _, row := range []struct {
		name string
		edit func(b *regressions.Baseline, a *regressions.Arm)
		want regressions.Status
		says string
	}{
		{"half failed, and the baseline does not know", func(b *regressions.Baseline, a *regressions.Arm) {
			drop(b.Arm, "error-rate", 12)
			with(*a, "error-rate", func(int) float64 { return 0.5 })
		}, regressions.Invalid, "50 % failed, and the baseline does not say how many did there"},
		{"one run, three times", func(b *regressions.Baseline, a *regressions.Arm) {
			a.Runs = []regressions.Run{a.Runs[0], a.Runs[0], a.Runs[0]}
		}, regressions.Invalid, "is there twice: what is measured once has no spread"},
		{"other pairs under one hash", func(b *regressions.Baseline, a *regressions.Arm) {
			a.Point = []metric.Pair{{Key: "arrivals", Value: "poisson 2/s"}}
		}, regressions.Invalid, "workload changed"},
		{"outputs counted in one run of three", func(b *regressions.Baseline, a *regressions.Arm) {
			drop(*a, "mean-output-tokens", 2)
		}, regressions.Pass, "not counted in every run of both arms, so not checked: that outputs are as long as before"},
		{"cached tokens no longer counted", func(b *regressions.Baseline, a *regressions.Arm) {
			drop(*a, "cached-share", 3)
		}, regressions.Pass, "so not checked: that the cache was no warmer"},
	} {
		v := change(row.edit)
		assert.Equal(t, row.want, v.Status, "%s: %s", row.name, v.Text())
		assert.Contains(t, v.Text(), row.says, row.name)
	}
}
