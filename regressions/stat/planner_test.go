package stat_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
)

// planner is the default gate's, with runs that vary by cv.
func planner(layout stat.Layout, cv float64, stored int) stat.Planner {
	return stat.Planner{Layout: layout, S: cv, Stored: stored, Rule: stat.Rule{Margin: math.Log(1.05), Worse: 0.0077, Same: 0.0166}}
}

// The smallest margins of the looks, in standard deviations of a run, and the
// two-sided MDE, both of the statistics they are tabled with.
func TestPlannerTable(t *testing.T) {
	for _, row := range []struct {
		layout          stat.Layout
		stored, n       int
		resolvable, mde string
	}{
		{stat.Interleaved, 0, 3, "3.37", "3.071"},
		{stat.Interleaved, 0, 5, "2.19", "2.024"},
		{stat.Interleaved, 0, 8, "1.61", "1.507"},
		{stat.Interleaved, 0, 12, "1.28", "1.197"},
		{stat.Stored, 10, 3, "2.18", "2.026"},
		{stat.Stored, 10, 5, "1.78", "1.660"},
		{stat.Stored, 10, 8, "1.52", ""},
		{stat.Stored, 10, 12, "1.35", ""},
		{stat.Stored, 20, 3, "", "1.819"},
		{stat.Stored, 50, 3, "", "1.698"},
	} {
		p := planner(row.layout, 1, row.stored)
		if row.resolvable != "" {
			assert.Equal(t, row.resolvable, fmt.Sprintf("%.2f", p.Resolvable(row.n)), "%+v", row)
		}
		if row.mde != "" {
			// To three digits one-sided 2.5 % is two-sided 5 %.
			assert.Equal(t, row.mde, fmt.Sprintf("%.3f", p.At(row.n).MDE(0.025)), "%+v", row)
		}
	}
}

// The planner, the layouts and an estimate of the same standard error agree.
func TestPlannerAgreesWithEstimates(t *testing.T) {
	for _, layout := range []stat.Layout{stat.Stored, stat.Interleaved, stat.Replayed} {
		p := planner(layout, 0.02, 10)
		e := stat.Estimate{SE: p.At(5).SE, DF: p.At(5).DF}
		assert.Equal(t, e.MDE(0.0077), p.At(5).MDE(0.0077))
		assert.Equal(t, e.Line(0.0077), p.At(5).Line(0.0077))
		assert.Equal(t, e.Smallest(p.Rule.Margin, 0.0077), p.Smallest(5))
		assert.Equal(t, layout.Resolvable(0.02, 0.0166, 10, 5), p.Resolvable(5))
		assert.Equal(t, layout.ToPass(0.02, 0, p.Rule.Margin, 0.0166, 10), p.ToPass(0))
	}
}

func TestPlannerLargest(t *testing.T) {
	p := planner(stat.Interleaved, 0.05, 0)
	assert.Equal(t, "0.0382", fmt.Sprintf("%.4f", p.Largest(12)))
	p.S = p.Largest(12)
	assert.InDelta(t, p.Rule.Margin, p.Resolvable(12), 1e-12, "at the largest it is just resolved")
	assert.Zero(t, planner(stat.Replayed, 0.05, 0).Largest(1), "one pair resolves nothing")
}

// More power asks for more of everything.
func TestPlannerPower(t *testing.T) {
	low, high := planner(stat.Interleaved, 0.02, 0), planner(stat.Interleaved, 0.02, 0)
	high.Power = 0.95
	for _, n := range stat.DefaultLooks() {
		assert.Greater(t, high.Resolvable(n), low.Resolvable(n))
		assert.Greater(t, high.Smallest(n), low.Smallest(n))
		assert.Greater(t, high.At(n).MDE(0.0077), low.At(n).MDE(0.0077))
		assert.Equal(t, high.At(n).Line(0.0077), low.At(n).Line(0.0077), "what is significant has no power")
	}
	low.Power = stat.Power
	assert.Equal(t, planner(stat.Interleaved, 0.02, 0).Resolvable(5), low.Resolvable(5), "zero is the default")
	assert.Equal(t, stat.Needed{Candidate: 5, Baseline: 5}, low.ToPass(0))
	assert.Equal(t, stat.Needed{Candidate: 7, Baseline: 7}, high.ToPass(0))
}

// Where the start is the unit, starts are what is needed.
func TestPlannerByStart(t *testing.T) {
	p := planner(stat.ByStart, 0.01, 5)
	e := must(stat.Starts([][]float64{{0.01}, {-0.01}, {0}, {0.01}, {-0.01}}, [][]float64{{0}}, 0))
	assert.InDelta(t, e.SE, e.S/p.S*p.At(1).SE, 1e-12, "s·√(1/C + 1/B)")
	assert.Equal(t, e.DF, p.At(1).DF)
	assert.Equal(t, stat.Needed{Candidate: 1, Baseline: 5}, p.ToPass(0))
	p.S = 0.02
	needed := p.ToPass(0)
	assert.Equal(t, stat.Needed{Candidate: 7, Baseline: 5}, needed)
	assert.LessOrEqual(t, p.Resolvable(needed.Candidate), p.Rule.Margin)
	assert.Greater(t, p.Resolvable(needed.Candidate-1), p.Rule.Margin)
}

func TestExpectedWithoutFreedom(t *testing.T) {
	e := stat.Interleaved.Expect(0.01, 0, 1)
	for _, size := range []float64{e.MDE(0.0077), e.Line(0.0077), e.Smallest(0.05, 0.0077), e.Resolvable(0.0166)} {
		assert.Equal(t, math.Inf(1), size)
	}
	assert.Equal(t, math.Inf(1), stat.Estimate{SE: 1}.Line(0.05))
}
