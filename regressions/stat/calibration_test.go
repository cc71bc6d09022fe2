package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long reports whether the long calibration was asked for.
func long() bool { return os.Getenv("OPENLOOP_CALIBRATE") == "1" }

// gates is the number of simulated gates in a row of a table.
func gates(t *testing.T) int {
	t.Helper()
	if long() {
		return 200_000
	}
	return 5_000
}

// design is how the runs of a simulated gate stand to each other.
type design struct {
	name string
	// stored is the size of a stored baseline; 0 interleaves.
	stored int
	paired bool
}

var (
	interleaved = design{name: "interleaved"}
	stored10    = design{name: "stored, 10 runs", stored: 10}
	paired      = design{name: "paired", paired: true}
)

// outcome is what became of many simulated gates.
type outcome struct {
	n                              int
	regressed, pass, runs, squares float64
}

// simulate runs gates of the design whose true difference is diff, with runs of
// standard deviation cv.
func simulate(seed uint64, n int, d design, cv, diff float64, rule stat.Rule) outcome {
	r := rand.New(rand.NewPCG(seed, 17))
	out := outcome{n: n}
	for range n {
		decision, runs := path(r, d, cv, diff, rule)
		switch decision {
		case stat.Slower:
			out.regressed++
		case stat.Within, stat.Faster:
			out.pass++
		}
		out.runs += float64(runs)
		out.squares += float64(runs * runs)
	}
	return out
}

// path is one gate: the decision and the candidate runs that it took.
func path(r *rand.Rand, d design, cv, diff float64, rule stat.Rule) (stat.Decision, int) {
	const most = 12
	m := most
	if d.stored > 0 {
		m = d.stored
	}
	base, cand := make([]float64, m), make([]float64, most)
	for i := range base {
		base[i] = cv * r.NormFloat64()
	}
	for i := range cand {
		cand[i] = diff + cv*r.NormFloat64()
	}
	for _, n := range stat.DefaultLooks() {
		var e stat.Estimate
		var err error
		switch {
		case d.stored > 0:
			e, err = stat.Unpaired(base, cand[:n], stat.Floor)
		case d.paired && n >= stat.MinPairs:
			diffs := make([]float64, n)
			for i := range diffs {
				diffs[i] = cand[i] - base[i]
			}
			e, err = stat.Paired(diffs, stat.Floor)
		default:
			e, err = stat.Unpaired(base[:n], cand[:n], stat.Floor)
		}
		if err != nil {
			panic(err)
		}
		if decision := rule.Decide(e); decision != stat.Undecided {
			return decision, n
		}
	}
	return stat.Undecided, most
}

// cell is one number of a table beside what was simulated.
type cell struct {
	name              string
	tabled, simulated float64
	// se is the standard error of the difference: of the simulation, of the
	// table (10⁵ paths) and of its rounding.
	se float64
}

// share is a cell of a proportion that the table rounds to digits.
func (o outcome) share(name string, count, tabled float64, digits int) cell {
	p := count / float64(o.n)
	// Where nothing was seen the error is that of one count in n.
	v := math.Max(tabled*(1-tabled), 1/float64(o.n))
	se := math.Sqrt(v/float64(o.n) + v/1e5 + rounding(digits))
	return cell{name, tabled, p, se}
}

// mean is the cell of the mean number of runs.
func (o outcome) mean(name string, tabled float64) cell {
	n := float64(o.n)
	mean := o.runs / n
	v := math.Max(o.squares/n-mean*mean, 0.01)
	return cell{name, tabled, mean, math.Sqrt(v/n + v/1e5 + rounding(1))}
}

// rounding is the variance of what a table's rounding takes off.
func rounding(digits int) float64 {
	step := math.Pow(10, -float64(digits))
	return step * step / 12
}

// judge prints the cells and holds them against each other: at least 99 % of
// them within three standard errors, none beyond five.
func judge(t *testing.T, cells []cell) {
	t.Helper()
	beyond := 0
	for _, c := range cells {
		z := (c.simulated - c.tabled) / c.se
		t.Logf("%-44s tabled %7.4f  simulated %7.4f  %+.1f standard errors", c.name, c.tabled, c.simulated, z)
		assert.LessOrEqual(t, math.Abs(z), 5.0, c.name)
		if math.Abs(z) > 3 {
			beyond++
		}
	}
	assert.LessOrEqual(t, float64(beyond), 0.01*float64(len(cells))+1, "cells beyond three standard errors")
}

// The operating characteristics of the gate at a margin of 5 %.
func TestCalibrationOfTheGate(t *testing.T) {
	margin := math.Log(1.05)
	rule := stat.Rule{Margin: margin, Worse: 0.0077, Same: 0.0166}
	rows := []struct {
		design
		cv                     float64
		falseAlarm, pass, runs float64
		passDigits             int
		caught, runsToCatch    float64
	}{
		{interleaved, 0.01, 0, 1, 3.1, 2, 1, 3.0},
		{interleaved, 0.02, 0, 0.999, 4.4, 3, 1, 3.3},
		{interleaved, 0.03, 0.006, 0.957, 6.5, 3, 1, 4.1},
		{interleaved, 0.05, 0.019, 0.617, 9.2, 3, 0.975, 6.6},
		{stored10, 0.02, 0, 1, 3.4, 3, 1, 3.1},
		{stored10, 0.05, 0.017, 0.579, 8.6, 3, 0.963, 5.1},
	}
	var cells []cell
	for i, row := range rows {
		name := fmt.Sprintf("%s, CV %.0f %%: ", row.name, 100*row.cv)
		same := simulate(uint64(10+i), gates(t), row.design, row.cv, 0, rule)
		slow := simulate(uint64(20+i), gates(t), row.design, row.cv, math.Log(1.10), rule)
		cells = append(cells,
			same.share(name+"unchanged, regressed", same.regressed, row.falseAlarm, 3),
			same.share(name+"unchanged, pass", same.pass, row.pass, row.passDigits),
			same.mean(name+"unchanged, runs", row.runs),
			slow.share(name+"+10 %, regressed", slow.regressed, row.caught, 3),
			slow.mean(name+"+10 %, runs", row.runsToCatch))
	}
	judge(t, cells)
}

// What the gate promises: false alarms at most 2.5 %, a slowdown of exactly
// the margin passes in at most 5 %. The lower 95 % bound of the count must not
// exceed the rate. The margin is small here against the noise, so that nothing
// but the p-value stops a false alarm.
func TestCalibrationOfThePromise(t *testing.T) {
	n := gates(t)
	if !long() {
		n /= 2
	}
	for _, d := range []design{interleaved, stored10, {name: "stored, 3 runs", stored: 3}, {name: "stored, 12 runs", stored: 12}, paired} {
		for _, alpha := range []float64{0.05, 0.025, 0.01} {
			worse, err := stat.Nominal(stat.DefaultLooks(), alpha)
			require.NoError(t, err)
			// A level of 0 for Within lets every path go to its end.
			o := simulate(31, n, d, 1, 0, stat.Rule{Margin: 1e-9, Worse: worse, Same: -1})
			atMost(t, fmt.Sprintf("%s: called worse at a rate of %v", d.name, alpha), o.regressed, o.n, alpha)
		}
		o := simulate(32, n, d, 1, 5, stat.Rule{Margin: 5, Worse: -1, Same: 0.0166})
		atMost(t, d.name+": a slowdown of the margin passes", o.pass, o.n, 0.05)
	}
}

// atMost fails when the lower 95 % bound of a count exceeds the rate; in the
// short version, whose counts are small and many, the lower 99.9 % bound.
func atMost(t *testing.T, what string, count float64, n int, rate float64) {
	t.Helper()
	z := 3.1
	if long() {
		z = 1.645
	}
	p := count / float64(n)
	lower := p - z*math.Sqrt(rate*(1-rate)/float64(n))
	t.Logf("%-60s %.4f of %d, at most %v", what, p, n, rate)
	assert.LessOrEqual(t, lower, rate, what)
}
