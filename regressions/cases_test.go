package regressions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

// The baseline's metric or error rate is gone: nothing was compared.
func TestVanishedMetric(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	a := candidate(3)
	for _, r := range a.Runs {
		for name := range r.Values {
			if name != "p50-ttft-sec" {
				delete(r.Values, name)
			}
		}
	}
	v := regressions.Judge(b, a, regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Contains(t, v.Reason, "p50-tpot-sec vanished")
}

// A measurement that collapsed is not an improvement of 97 %.
func TestCollapsedMeasurement(t *testing.T) {
	v := regressions.Judge(stored(only("p50-ttft-sec", 0.100, 0.101, 0.099)), only("p50-ttft-sec", 0.003, 0.003, 0.003), regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, "suspicious: p50-ttft-sec −97.0 % better is an improvement of more than 50 %", v.Reason)

	b, candidate := arms(1, quiet, quiet)
	a := candidate(3)
	for _, r := range b.Runs {
		r.Values["mean-output-tokens"] = 4220
	}
	for _, r := range a.Runs {
		r.Values["mean-output-tokens"] = 32
	}
	v = regressions.Judge(b, a, regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, "workload changed: mean output 4220 → 32 tokens, −99.2 % (short output), more than 2 % apart", v.Reason)
}

// TTFT 20 % better, TPOT 20 % worse, as reported after an upgrade: a gate on
// one of them, or on throughput within 20 %, is green.
func TestTheGatedMetricIsNotTheOneThatMoved(t *testing.T) {
	values := func(ttft, tpot float64) func(int) map[string]float64 {
		return func(i int) map[string]float64 {
			wobble := 1 + 0.004*float64(i%3-1)
			return map[string]float64{"p50-ttft-sec": ttft * wobble, "p50-tpot-sec": tpot * wobble, "p50-e2e-sec": ttft + 255*tpot*wobble, "error-rate": 0}
		}
	}
	v := regressions.Judge(stored(arm(12, 2, values(0.474, 0.01867))), arm(3, 1, values(0.380, 0.02240)), regressions.Gate{})
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Contains(t, v.Reason, "p50-tpot-sec +20.0 % (margin 5 %)")
	assert.Contains(t, v.Text(), "p50-ttft-sec −19.8 % better (improved)")
}

// An overloaded server that refuses half of its requests answers the others
// faster: the errors decide, the latency is reported.
func TestRefusalsDoNotMakeAServerFaster(t *testing.T) {
	served := func(e2e, errors float64) func(int) map[string]float64 {
		return func(i int) map[string]float64 {
			wobble := 1 + 0.004*float64(i%3-1)
			return map[string]float64{"p50-e2e-sec": e2e * wobble, "error-rate": errors}
		}
	}
	v := regressions.Judge(stored(arm(12, 2, served(0.600, 0))), arm(3, 1, served(0.500, 0.5)), regressions.Gate{})
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Equal(t, "error-rate 0 % → 50 % (+50.00 points, margin 0.5 points)", v.Reason)
	assert.Contains(t, v.Text(), "p50-e2e-sec −16.7 % better (improved)")
}

// One request in a hundred fails where none did. Three runs do not show it
// beyond doubt, and do not pass it either.
func TestAFewErrorsHoldUpAPass(t *testing.T) {
	b, candidate := arms(6, quiet, quiet)
	counts := []float64{3, 1, 5, 2, 4, 3, 2, 3, 5, 1, 3, 4}
	now := func(n int) regressions.Arm {
		a := candidate(n)
		for i, r := range a.Runs {
			r.Values["error-rate"] = counts[i] / 300
		}
		return a
	}
	v := regressions.Judge(b, now(3), regressions.Gate{})
	assert.Equal(t, regressions.Inconclusive, v.Status, v.Text())
	assert.Equal(t, 5, v.NextLook)
	v, runs := gate(b, now, regressions.Gate{})
	assert.Equal(t, regressions.Regressed, v.Status, v.Text())
	assert.LessOrEqual(t, runs, 12)
}

// Warm against cold: the baseline was saved from a warm cache, or these runs
// found one.
func TestWarmAgainstCold(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	a := candidate(3)
	for _, r := range a.Runs {
		r.Values["cached-share"] = 0.34
	}
	v := regressions.Judge(b, a, regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, "cache state differs: 0 % of the prompt tokens came from the cache in the baseline, 34 % here", v.Reason)
	b.Cache = ""
	v = regressions.Judge(b, candidate(3), regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Contains(t, v.Reason, "cache state differs")
}

// Prompts that came out shorter than in the baseline are another workload.
func TestPromptLengthNotAsBefore(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	for by, want := range map[float64]regressions.Status{1.019: regressions.Pass, 0.981: regressions.Pass, 0.97: regressions.Invalid, 1.03: regressions.Invalid} {
		a := candidate(3)
		for _, r := range a.Runs {
			r.Values["mean-prompt-tokens"] = 2048 * by
		}
		v := regressions.Judge(b, a, regressions.Gate{})
		assert.Equal(t, want, v.Status, "%v: %s", by, v.Text())
		if want == regressions.Invalid {
			assert.True(t, strings.HasPrefix(v.Reason, "workload changed: mean prompt 2048 → "), v.Reason)
		}
	}
}

// A failing verdict names the way to tell a slow machine from a slow build.
func TestRegressionOffersARerunOfTheOldBuild(t *testing.T) {
	v := regressions.Judge(stored(rates(63, 63.1, 62.9)), rates(20, 20.1, 20.2), throughput)
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Equal(t, "measure the old build in turns with this one (benchtest.MeasureBoth), which rules the machine out; if the change is meant, accept it: OPENLOOP_UPDATE=1 go test -count=1 -run '^TestDecodeDidNotSlowDown$' .", v.Remedy)
}

func Example_status() {
	for _, s := range []regressions.Status{regressions.Pass, regressions.Improved, regressions.Regressed, regressions.Inconclusive, regressions.Invalid, ""} {
		fmt.Printf("%q %t\n", s, s.Green())
	}
	// Output:
	// "pass" true
	// "improved" true
	// "regressed" false
	// "inconclusive" false
	// "invalid" false
	// "" false
}
