package regressions_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// turns draws the two arms of a gate: the arrivals' luck and what the machine
// is today are in both, each run has a start of its own.
func turns(seed uint64, old, now engine, day float64) func(n int) (control, candidate regressions.Arm) {
	base := old.values(rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 5)), 12, 12)
	cand := now.values(rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 6)), 12, 12)
	today := math.Exp(day * rand.New(rand.NewPCG(seed, 7)).NormFloat64())
	for _, runs := range [][]map[string]float64{base, cand} {
		for _, v := range runs {
			for _, name := range []string{"p50-tpot-sec", "p50-ttft-sec", "p50-e2e-sec"} {
				v[name] *= today
			}
		}
	}
	return func(n int) (regressions.Arm, regressions.Arm) {
		return inTurns(arm(n, n, func(i int) map[string]float64 { return base[i] }), arm(n, n, func(i int) map[string]float64 { return cand[i] }))
	}
}

// gateBoth runs the looks as NotSlower does.
func gateBoth(arms func(n int) (control, candidate regressions.Arm), g regressions.Gate) regressions.Verdict {
	for n := 3; ; {
		control, candidate := arms(n)
		v := regressions.JudgeBoth(control, candidate, g)
		if v.NextLook == 0 {
			return v
		}
		n = v.NextLook
	}
}

// Two builds in turns keep the promise whatever starts and days do. For false
// alarms the margin is next to none, so that nothing but the p-value stops one.
func TestCalibrationOfBoth(t *testing.T) {
	n := gates(t)
	g := regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-tpot-sec"}}}
	strict := regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-tpot-sec", Margin: 1e-9}}}
	for _, tau := range []float64{0.5, 1, 2} {
		e := engine{run: 0.02, start: tau * 0.02}
		slower := e
		slower.slower = 0.05
		alarms, passes := 0, 0
		for seed := range n {
			if gateBoth(turns(uint64(seed), e, e, 5*tau*0.02), strict).Status == regressions.Regressed {
				alarms++
			}
			if gateBoth(turns(uint64(n+seed), e, slower, 5*tau*0.02), g).Status.Green() {
				passes++
			}
		}
		alarm, pass := float64(alarms)/float64(n), float64(passes)/float64(n)
		t.Logf("starts of %v σ, days of %v σ: false alarms %.3f, +5 %% passes in %.3f of %d", tau, 5*tau, alarm, pass, n)
		assert.LessOrEqual(t, alarm-1.645*math.Sqrt(0.025*0.975/float64(n)), 0.025)
		assert.LessOrEqual(t, pass-1.645*math.Sqrt(0.05*0.95/float64(n)), 0.05)
	}
}

// The control's runs in a baseline take the day off, which a stored baseline
// takes for the build's.
func TestCalibrationOfBeside(t *testing.T) {
	n := gates(t)
	e := engine{arrivals: 0.02, run: 0.01}
	for _, day := range []float64{0.05, 0.1} {
		var red [2]int
		for seed := range n {
			then, now := turns(uint64(2*seed), e, e, day), turns(uint64(2*seed+1), e, e, day)
			control, arm := then(12)
			base, err := arm.Beside(control)
			require.NoError(t, err)
			for with := range 2 {
				v, _ := gate(stored(base), func(k int) regressions.Arm {
					control, arm := now(k)
					for i := range arm.Runs {
						arm.Runs[i].StartID += "-today"
						// The same arrivals on another day; their luck is drawn anew.
						arm.Runs[i].Seed, control.Runs[i].Seed = arm.Runs[i].Seed+uint64(i), control.Runs[i].Seed+uint64(i)
					}
					if with == 0 {
						return arm
					}
					out, err := arm.Beside(control)
					require.NoError(t, err)
					return out
				}, regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-tpot-sec"}}})
				if v.Status == regressions.Regressed {
					red[with]++
				}
			}
		}
		t.Logf("days of %.0f %%: false alarms %.3f without the control, %.3f with it, of %d", 100*day, float64(red[0])/float64(n), float64(red[1])/float64(n), n)
		assert.Greater(t, float64(red[0])/float64(n), 0.1, "a day of %v", day)
		assert.LessOrEqual(t, float64(red[1])/float64(n)-1.645*math.Sqrt(0.025*0.975/float64(n)), 0.025, "a day of %v", day)
	}
}
