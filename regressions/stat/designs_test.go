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

func TestUnpairedIsThePooledTest(t *testing.T) {
	base := []float64{0.01, 0.03, -0.02, 0.00, 0.02}
	cand := []float64{0.06, 0.09, 0.075}
	e, err := stat.Unpaired(base, cand, stat.Floor)
	require.NoError(t, err)
	want := pooled(base, cand)
	assert.Equal(t, stat.DesignPooled, e.Design)
	assert.InDelta(t, want.Diff, e.Diff, 1e-15)
	assert.InDelta(t, want.SE, e.SE, 1e-15)
	assert.Equal(t, 6.0, e.DF)
	assert.Equal(t, []int{5, 3}, []int{e.M, e.N})
	// By hand: d 0.067, s² = (0.00148+0.00045)/6, t = 5.119 of 6 degrees.
	assert.InDelta(t, 0.00109, e.AtMost(0), 0.00001)
	low, high := e.Interval(0.95)
	assert.InDelta(t, 0.0350, low, 0.0001)
	assert.InDelta(t, 0.0990, high, 0.0001)
}

func TestWelchWhenTheCandidateIsNoisier(t *testing.T) {
	quiet := []float64{0, 0.01, -0.01, 0.005, -0.005}
	for _, row := range []struct {
		name string
		cand []float64
		want stat.Design
	}{
		{"as quiet", []float64{0.01, 0.02, 0.03}, stat.DesignPooled},
		{"quieter", []float64{0.02, 0.02, 0.02}, stat.DesignPooled},
		{"noisier than chance explains", []float64{0.00, 0.06, 0.12}, stat.DesignWelch},
	} {
		e := must(stat.Unpaired(quiet, row.cand, stat.Floor))
		assert.Equal(t, row.want, e.Design, row.name)
	}
	e := must(stat.Unpaired(quiet, []float64{0.00, 0.06, 0.12}, stat.Floor))
	assert.InDelta(t, math.Sqrt(0.0000625/5+0.0036/3), e.SE, 1e-9)
	assert.InDelta(t, 2.04, e.DF, 0.01, "next to nothing but the candidate's own two degrees")
	// A baseline noisier than the candidate lends its noise: no switch.
	assert.Equal(t, stat.DesignPooled, must(stat.Unpaired([]float64{0, 0.06, 0.12}, quiet, stat.Floor)).Design)
}

// Runs that are identical, as in virtual time, do not make every difference
// significant.
func TestFloorForIdenticalRuns(t *testing.T) {
	same := []float64{-5.15, -5.15, -5.15}
	for _, row := range []struct {
		name string
		diff float64
		want stat.Decision
	}{
		{"no difference", 0, stat.Within},
		{"a thousandth", 0.001, stat.Within},
		{"ten per cent", math.Log(1.1), stat.Slower},
		{"ten per cent faster", -math.Log(1.1), stat.Faster},
	} {
		cand := []float64{same[0] + row.diff, same[1] + row.diff, same[2] + row.diff}
		e := must(stat.Unpaired(same, cand, stat.Floor))
		assert.Equal(t, stat.Floor, e.S, row.name)
		rule := stat.Rule{Margin: math.Log(1.05), Worse: 0.0077, Same: 0.0166}
		assert.Equal(t, row.want, rule.Decide(e), row.name)
		diffs := []float64{row.diff, row.diff, row.diff, row.diff}
		assert.Equal(t, row.want, rule.Decide(must(stat.Paired(diffs, stat.Floor))), row.name+", paired")
	}
}

func TestTooFewRuns(t *testing.T) {
	three, nan := []float64{1, 2, 3}, []float64{1, math.NaN(), 3}
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"one candidate run", second(stat.Unpaired(three, []float64{1}, 0)), "stat: runs of the candidate: have 1, need at least 3"},
		{"two baseline runs", second(stat.Unpaired([]float64{1, 2}, three, 0)), "stat: runs of the baseline: have 2, need at least 3"},
		{"a baseline value that is none", second(stat.Unpaired(nan, three, 0)), "stat: a baseline value is NaN"},
		{"an infinite candidate", second(stat.Unpaired(three, []float64{1, 2, math.Inf(1)}, 0)), "stat: a candidate value is +Inf"},
		{"three pairs", second(stat.Paired(three, 0)), "stat: pairs: have 3, need at least 4"},
		{"a pair that is none", second(stat.Paired([]float64{1, 2, 3, math.Inf(-1)}, 0)), "stat: a difference is -Inf"},
		{"two starts", second(stat.Starts([][]float64{{1}, {2}}, [][]float64{{1}}, 0)), "stat: starts of the baseline: have 2, need at least 3"},
		{"no candidate start", second(stat.Starts([][]float64{{1}, {2}, {3}}, nil, 0)), "stat: starts of the candidate: have 0, need at least 1"},
		{"an empty start", second(stat.Starts([][]float64{{1}, {}, {3}}, [][]float64{{1}}, 0)), "stat: a start has no runs or a value that is not finite: []"},
		{"two starts of pairs", second(stat.PairedStarts([][]float64{{1}, {2}}, 1, 0)), "stat: starts of the baseline: have 2, need at least 3"},
		{"pairs without a candidate start", second(stat.PairedStarts([][]float64{{1}, {2}, {3}}, 0, 0)), "stat: starts of the candidate: have 0, need at least 1"},
	} {
		assert.EqualError(t, row.err, row.want, row.name)
	}
}

func second[T any](_ T, err error) error { return err }

func TestNaNDecidesNothing(t *testing.T) {
	rule := stat.Rule{Margin: 0.05, Worse: 0.5, Same: 0.5}
	for _, e := range []stat.Estimate{
		{Diff: math.NaN(), SE: 1, DF: 5}, {Diff: 1, SE: math.NaN(), DF: 5}, {Diff: math.Inf(1), SE: 1, DF: 5}, {Diff: -1, SE: 0, DF: 5},
	} {
		assert.Equal(t, stat.Undecided, rule.Decide(e), "%+v", e)
	}
}

// Arrivals that both arms share move an unpaired test and not a paired one.
func TestPairedTakesTheArrivalsOut(t *testing.T) {
	luck := []float64{0.10, -0.20, 0.05, 0.30, -0.15}
	noise := []float64{0.001, -0.002, 0.000, 0.002, -0.001}
	var base, cand, diffs []float64
	for i := range luck {
		base = append(base, luck[i])
		cand = append(cand, luck[i]+0.06+noise[i])
		diffs = append(diffs, cand[i]-base[i])
	}
	rule := stat.Rule{Margin: math.Log(1.05), Worse: 0.0077, Same: 0.0166}
	assert.Equal(t, stat.Undecided, rule.Decide(must(stat.Unpaired(base, cand, stat.Floor))))
	e := must(stat.Paired(diffs, stat.Floor))
	assert.Equal(t, stat.Slower, rule.Decide(e))
	assert.InDelta(t, 0.06, e.Diff, 1e-12)
	assert.InDelta(t, math.Sqrt(2.5e-6/2), e.S, 1e-9, "one arm's share of a difference")
	assert.InDelta(t, e.S*math.Sqrt(1/float64(e.M)+1/float64(e.N)), e.SE, 1e-12)
}

// The correlation at which pairing breaks even, by the MDE of both tests.
func TestPairingBreaksEven(t *testing.T) {
	for n, want := range map[int]float64{3: 0.56, 4: 0.37, 5: 0.28, 8: 0.15} {
		test := stat.Test{Alpha: 0.05, Sides: 2}
		ratio := test.Factor(float64(2*n-2)) / test.Factor(float64(n-1))
		assert.InDelta(t, want, 1-ratio*ratio, 0.01, "%d pairs", n)
	}
}

// A baseline from one other start, tested as if starts were alike, raises
// false alarms; with the start as the unit it does not.
func TestCalibrationOfStarts(t *testing.T) {
	n := gates(t)
	var cells []cell
	for _, row := range []struct{ tau, naive float64 }{{0.5, 0.15}, {1, 0.27}, {2, 0.37}} {
		r := rand.New(rand.NewPCG(8, uint64(10*row.tau)))
		naive := outcome{n: n}
		for range n {
			base := normals(r, 5, row.tau*r.NormFloat64())
			cand := normals(r, 5, row.tau*r.NormFloat64())
			if pooled(base, cand).AtMost(0) <= 0.05 {
				naive.regressed++
			}
		}
		t.Logf("τ = %.1f σ, one start, 5+5 runs: %.3f, known as %.2f", row.tau, naive.regressed/float64(n), row.naive)
		// How many runs the tabled figure is of is not said: within a quarter.
		assert.InEpsilon(t, row.naive, naive.regressed/float64(n), 0.25, "τ = %v", row.tau)
		for _, starts := range []int{3, 5, 20} {
			o := outcome{n: n}
			for range n {
				base := make([][]float64, starts)
				for i := range base {
					base[i] = normals(r, 2, row.tau*r.NormFloat64())
				}
				cand := [][]float64{normals(r, 2, row.tau*r.NormFloat64())}
				if must(stat.Starts(base, cand, 0)).AtMost(0) <= 0.05 {
					o.regressed++
				}
			}
			cells = append(cells, o.share(fmt.Sprintf("%d starts, τ = %.1f σ, start as the unit", starts, row.tau), o.regressed, 0.05, 3))
		}
	}
	judge(t, cells)
}

// With paired differences and one candidate start, a slowdown of the margin
// passes in at most 5 % over all looks, whatever the effect of a start.
func TestCalibrationOfPairedStarts(t *testing.T) {
	n := gates(t)
	for _, tau := range []float64{0, 0.5, 1, 2} {
		const margin = 6
		r := rand.New(rand.NewPCG(9, uint64(10*tau)))
		passed := 0.0
		for range n {
			starts := make([]float64, 6)
			for i := range starts {
				starts[i] = tau * r.NormFloat64()
			}
			own := margin + tau*r.NormFloat64()
			groups := make([][]float64, 6)
			for i := range 12 {
				groups[i%6] = append(groups[i%6], own-starts[i%6]+math.Sqrt2*r.NormFloat64())
				if i+1 != 8 && i+1 != 12 { // looks from the sixth start on
					continue
				}
				e := must(stat.PairedStarts(groups, 1, 0))
				if e.AtLeast(margin) <= 0.0166 {
					passed++
					break
				}
			}
		}
		atMost(t, fmt.Sprintf("paired starts, τ = %.1f σ: a slowdown of the margin passes", tau), passed, n, 0.05)
	}
}
