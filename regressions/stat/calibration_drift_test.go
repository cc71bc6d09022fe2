package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// starts draws n runs of standard deviation 1 over so many engine starts,
// whose effects have the standard deviation tau.
func starts(r *rand.Rand, n, starts int, tau float64) []float64 {
	effect := make([]float64, starts)
	for i := range effect {
		effect[i] = tau * r.NormFloat64()
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = effect[i*starts/n] + r.NormFloat64()
	}
	return out
}

// turn is one gate of two builds measured in turns whose true difference is
// diff, each run on a start of its own; day is what the machine is today.
func turn(r *rand.Rand, tau, day, diff float64, rule stat.Rule) stat.Decision {
	base, cand := starts(r, 12, 12, tau), starts(r, 12, 12, tau)
	for i := range base {
		base[i] += day
		cand[i] += day + diff
	}
	for _, n := range stat.DefaultLooks() {
		e, err := stat.Unpaired(base[:n], cand[:n], stat.Floor)
		if n >= 5 {
			diffs := make([]float64, n)
			for i := range diffs {
				diffs[i] = cand[i] - base[i]
			}
			e, err = stat.Paired(diffs, stat.Floor)
		}
		if err != nil {
			panic(err)
		}
		if d := rule.Decide(e); d != stat.Undecided {
			return d
		}
	}
	return stat.Undecided
}

// What starts and days do to a stored baseline that is tested as if they did
// nothing, and that they do nothing to two builds in turns.
func TestCalibrationOfDrift(t *testing.T) {
	n := gates(t)
	var cells []cell
	for i, row := range []struct{ tau, tabled float64 }{{0.5, 0.15}, {1, 0.27}, {2, 0.37}} {
		r := rand.New(rand.NewPCG(uint64(41+i), 17))
		stored := outcome{n: n}
		for range n {
			e, err := stat.Unpaired(starts(r, 12, 1, row.tau), starts(r, 5, 1, row.tau), stat.Floor)
			require.NoError(t, err)
			if e.AtMost(0) <= 0.05 {
				stored.regressed++
			}
		}
		cells = append(cells, stored.share(fmt.Sprintf("stored, starts of %v σ: false alarms at 5 %%", row.tau), stored.regressed, row.tabled, 2))

		alarms, passes := 0.0, 0.0
		margin := 2 * math.Sqrt(1+row.tau*row.tau)
		for range n {
			day := row.tau * r.NormFloat64()
			if turn(r, row.tau, day, 0, stat.Rule{Margin: 1e-9, Worse: 0.0077, Same: -1}) == stat.Slower {
				alarms++
			}
			if turn(r, row.tau, day, margin, stat.Rule{Margin: margin, Worse: -1, Same: 0.0166}) == stat.Within {
				passes++
			}
		}
		atMost(t, fmt.Sprintf("in turns, starts and days of %v σ: false alarms", row.tau), alarms, n, 0.025)
		atMost(t, fmt.Sprintf("in turns, starts and days of %v σ: a slowdown of the margin passes", row.tau), passes, n, 0.05)
	}
	// σ = τ = 1 %, M = 5 %: six stored starts against one.
	r := rand.New(rand.NewPCG(44, 17))
	margin := 100 * math.Log(1.05)
	passes := outcome{n: n}
	for range n {
		base, cand := starts(r, 12, 6, 1), starts(r, 12, 1, 1)
		for _, looks := range stat.DefaultLooks() {
			for i := range cand {
				if looks == 3 {
					cand[i] += margin
				}
			}
			e, err := stat.Unpaired(base, cand[:looks], stat.Floor)
			require.NoError(t, err)
			d := stat.Rule{Margin: margin, Worse: 0.0077, Same: 0.0166}.Decide(e)
			if d == stat.Within {
				passes.pass++
			}
			if d != stat.Undecided {
				break
			}
		}
	}
	cells = append(cells, passes.share("six stored starts against one, a slowdown of the margin passes", passes.pass, 0.18, 2))
	judge(t, cells)
}

// Why the gate does not draw on a history of the machine's noise: where
// today's noise is what it was, it saves runs, and where it is more, the gate
// calls more unchanged builds regressed than it promises.
func TestCalibrationOfAPrior(t *testing.T) {
	n := gates(t)
	margin := math.Log(1.05)
	for _, row := range []struct {
		// today is the noise in units of the history's.
		today float64
		holds bool
	}{{1, true}, {1.5, false}, {2, false}} {
		rates, runs := [2]float64{}, [2]float64{}
		for with := range 2 {
			r := rand.New(rand.NewPCG(51, 17))
			for range n {
				d, _ := historic(r, with == 1, row.today, 1, stat.Rule{Margin: 1e-9, Worse: 0.0077, Same: -1})
				if d == stat.Slower {
					rates[with] += 1 / float64(n)
				}
				_, used := historic(r, with == 1, 0.02*row.today, 0.02, stat.Rule{Margin: margin, Worse: 0.0077, Same: 0.0166})
				runs[with] += float64(used) / float64(n)
			}
		}
		t.Logf("noise today %.1f of the history's: false alarms %.4f without, %.4f with it; mean runs to pass at CV %.0f %% %.1f without, %.1f with it",
			row.today, rates[0], rates[1], 2*row.today, runs[0], runs[1])
		atMost(t, "without the history: false alarms", rates[0]*float64(n), n, 0.025)
		se := math.Sqrt(0.025 * 0.975 / float64(n))
		assert.Equal(t, row.holds, rates[1] <= 0.025+3*se, "noise today %v of the history's: %v", row.today, rates[1])
	}
}

// historic is one gate of unchanged builds in turns at a noise of s today,
// with or without a history of s0 with ten degrees of freedom.
func historic(r *rand.Rand, with bool, s, s0 float64, rule stat.Rule) (stat.Decision, int) {
	base, cand := make([]float64, 12), make([]float64, 12)
	for i := range base {
		base[i], cand[i] = s*r.NormFloat64(), s*r.NormFloat64()
	}
	for _, n := range stat.DefaultLooks() {
		e, err := stat.Unpaired(base[:n], cand[:n], 0)
		if err != nil {
			panic(err)
		}
		if with {
			sd, df, _ := stat.Prior(e.S, e.DF, s0, 10)
			e.SE, e.S, e.DF = e.SE*sd/e.S, sd, df
		}
		if d := rule.Decide(e); d != stat.Undecided {
			return d, n
		}
	}
	return stat.Undecided, 12
}
