package regressions_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

// What went wrong for people who gate servers, each as the smallest input.

// throughput gates a closed loop's tokens a second.
var throughput = regressions.Gate{Metrics: []regressions.Metric{{Name: "output-tok/s"}}}

func rates(xs ...float64) regressions.Arm { return only("output-tok/s", xs...) }

// A fixed threshold inside the noise: 97.185 and 96.759 against 98, which the
// baseline itself misses half the time.
func TestThresholdInsideTheNoise(t *testing.T) {
	b := stored(rates(97.2, 96.8, 98.4, 98.9))
	v := regressions.Judge(b, rates(97.185, 96.759, 97.9), throughput)
	assert.Equal(t, regressions.Pass, v.Status, v.Text())
}

// Two blocks of the same code minutes apart, 13 % different and each nearly
// constant. No test over runs can know; the text must say what it rests on,
// and a baseline of several blocks must know better.
func TestBlocksAreNotIndependentSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	block := func(n int, mean, cv float64) (xs []float64) {
		for range n {
			xs = append(xs, mean*(1+cv*r.NormFloat64()))
		}
		return xs
	}
	a, b := block(20, 817, 0.07), block(20, 708, 0.01)
	v := regressions.Judge(stored(rates(a...)), latest(rates(b...)), throughput)
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Contains(t, v.Text(), "conditional on no drift between starts, which is not measured (the baseline has 1 start of 5 needed)")
	assert.Contains(t, v.Remedy, "measure the old build in turns with this one")

	// Six blocks that differ as those two did, and a seventh that is no worse.
	means := []float64{817, 708, 760, 830, 700, 790}
	drifting := arm(12, 6, func(i int) map[string]float64 {
		return map[string]float64{"output-tok/s": means[i/2] * (1 + 0.01*r.NormFloat64())}
	})
	v = regressions.Judge(stored(drifting), latest(rates(708, 709, 707)), throughput)
	assert.Equal(t, regressions.Inconclusive, v.Status, v.Text())
	assert.Contains(t, v.Text(), "the engine start is the unit")
}

// 405 series that did not change, each at 5 %: twenty alarms. A job shares its
// rate among them, and what cannot be told is a third state.
func TestManyMetricsOneThreshold(t *testing.T) {
	one, shared, undecided := 0, 0, 0
	for seed := range 405 {
		r := rand.New(rand.NewPCG(24, uint64(seed)))
		draw := func() regressions.Arm {
			xs := make([]float64, 12)
			for i := range xs {
				xs[i] = math.Exp(0.05 * r.NormFloat64())
			}
			return only("p50-tpot-sec", xs...)
		}
		b, candidate := stored(draw()), latest(draw())
		g := regressions.Gate{Margin: 0.001, Metrics: []regressions.Metric{{Name: "p50-tpot-sec"}}, FalseAlarms: 0.05, Looks: []int{12}}
		v := regressions.Judge(b, candidate, g)
		if v.Status == regressions.Regressed {
			one++
		}
		g.Gates = 405
		v = regressions.Judge(b, candidate, g)
		switch v.Status {
		case regressions.Regressed:
			shared++
		case regressions.Inconclusive:
			undecided++
		}
	}
	assert.InDelta(t, 20, one, 13, "uncorrected")
	assert.Equal(t, 0, shared, "the job's rate is 5 %")
	assert.Greater(t, undecided, 300, "a margin of 0.1 % cannot be told at a CV of 5 %")
}

// One run has no spread; three against three can be told apart by a t-test
// where ranks never can; a value among equals is no outlier.
func TestTooFewSamples(t *testing.T) {
	v := regressions.Judge(stored(rates(115, 114, 115, 115, 115)), rates(78.8), throughput)
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, "1 run, at least 3 are needed: one run has no spread, and two next to none", v.Reason)

	v = regressions.Judge(stored(rates(115, 114, 115, 115, 115)), rates(78.8, 78.8, 78.8, 78.8, 78.8), throughput)
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Contains(t, v.Reason, "output-tok/s −31.4 %")
}

// A baseline is a distribution with a date and a commit, not the best ever
// seen: thirty draws, and their own mean passes; the best of them would not be
// met again.
func TestBaselineIsADistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	draws, best := make([]float64, 30), math.Inf(1)
	for i := range draws {
		draws[i] = 100 + 3*r.NormFloat64()
		best = math.Min(best, draws[i])
	}
	g := regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-ttft-sec"}}}
	old := stored(only("p50-ttft-sec", draws...))
	now := latest(only("p50-ttft-sec", 100, 102, 98, 101, 99))
	v := regressions.Judge(old, now, g)
	assert.Equal(t, regressions.Pass, v.Status, v.Text())
	assert.Contains(t, v.Text(), "2026-11-20, commit 3f2c9a1")
	assert.Less(t, best, 95.0, "a ratchet would have called 100 a slowdown of more than 5 %")
	for i := range now.Runs {
		now.Runs[i].Time = now.Runs[i].Time.AddDate(0, 7, 0)
	}
	assert.Contains(t, regressions.Judge(old, now, g).Text(), "the baseline is 219 days old")
}

// Small but real: 3.1 % on builds that do not overlap. It is within the
// margin, and said to be more than chance, with what could have been seen.
func TestSmallButReal(t *testing.T) {
	v := regressions.Judge(stored(rates(63.7, 63.5, 63.6)), rates(61.7, 61.7, 61.5), throughput)
	assert.Equal(t, regressions.Pass, v.Status)
	assert.Contains(t, v.Text(), "output-tok/s −3.1 % worse (margin 5 %)")
	assert.Contains(t, v.Text(), "output-tok/s: worse beyond chance, within the margin")
	assert.Contains(t, v.Text(), "could see  0.7 %")
}

// Limits that follow the noise must not let it hide a loss of 20 %: thirty
// runs of CV 1 % and then thirty of CV 5 %.
func TestNoiseDoesNotHideALoss(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	var calm, wild []float64
	for range 30 {
		calm, wild = append(calm, 100+r.NormFloat64()), append(wild, 100+5*r.NormFloat64())
	}
	for _, base := range [][]float64{calm, wild} {
		v := regressions.Judge(stored(rates(base...)), rates(80, 81, 79), throughput)
		assert.Equal(t, regressions.Regressed, v.Status, v.Text())
	}
}

// Percent of what, and in which direction: (new − old) ÷ old, in words.
func TestPercentOfTheOld(t *testing.T) {
	v := regressions.Judge(stored(rates(62.79, 62.80, 62.78)), rates(57.80, 57.81, 57.79), throughput)
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Contains(t, v.Reason, "output-tok/s −7.9 %")

	// A latency table whose columns were swapped, and a throughput that rose.
	latency := regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-ttft-sec"}, {Name: "output-tok/s"}}}
	both := func(ttft, rate float64) regressions.Arm {
		return arm(3, 1, func(int) map[string]float64 {
			return map[string]float64{"p50-ttft-sec": ttft, "output-tok/s": rate}
		})
	}
	v = regressions.Judge(stored(both(2.0686, 10)), both(3.1230, 14.9), latency)
	assert.Equal(t, regressions.Regressed, v.Status)
	text := v.Text()
	assert.Contains(t, text, "p50-ttft-sec +51.0 %")
	assert.Contains(t, text, "baseline   2.07s")
	assert.Contains(t, text, "candidate  3.12s")
	assert.Contains(t, text, "output-tok/s +49.0 % better (improved)")
}
