package stat_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
)

// The smallest margin that a look can resolve, in CV.
func TestResolvable(t *testing.T) {
	for _, row := range []struct {
		layout stat.Layout
		m, n   int
		want   float64
	}{
		{stat.Interleaved, 0, 3, 3.37},
		{stat.Interleaved, 0, 5, 2.19},
		{stat.Interleaved, 0, 8, 1.61},
		{stat.Interleaved, 0, 12, 1.28},
		{stat.Stored, 10, 3, 2.18},
		{stat.Stored, 10, 5, 1.78},
		{stat.Stored, 10, 8, 1.52},
		{stat.Stored, 10, 12, 1.35},
	} {
		got := row.layout.Resolvable(1, 0.0166, row.m, row.n)
		assert.Equal(t, fmt.Sprintf("%.2f", row.want), fmt.Sprintf("%.2f", got), "%+v", row)
	}
	assert.InDelta(t, 0.064, stat.Interleaved.Resolvable(0.05, 0.0166, 0, 12), 0.0005, "CV 5 % needs a margin of 6.4 %")
	assert.Equal(t, math.Inf(1), stat.Replayed.Resolvable(1, 0.0166, 0, 1))
	// Differences have half the degrees of freedom of two samples.
	assert.Greater(t, stat.Replayed.Resolvable(1, 0.0166, 0, 5), stat.Interleaved.Resolvable(1, 0.0166, 0, 5))
}

func TestNeededRuns(t *testing.T) {
	margin := math.Log(1.05)
	for _, row := range []struct {
		name string
		got  stat.Needed
		want stat.Needed
	}{
		{"CV 1 %, no change: three will do", stat.Stored.ToPass(0.01, 0, margin, 0.0166, 12), stat.Needed{Candidate: 3, Baseline: 12}},
		{"CV 2 %, no change", stat.Interleaved.ToPass(0.02, 0, margin, 0.0166, 3), stat.Needed{Candidate: 5, Baseline: 5}},
		{"faster counts as no change", stat.Interleaved.ToPass(0.02, -0.5, margin, 0.0166, 3), stat.Needed{Candidate: 5, Baseline: 5}},
		{"CV 5 %: twenty each", stat.Interleaved.ToPass(0.05, 0, margin, 0.0166, 3), stat.Needed{Candidate: 20, Baseline: 20}},
		{"CV 5 %, stored 12: the baseline is in the way", stat.Stored.ToPass(0.05, 0, margin, 0.0166, 12), stat.Needed{Candidate: 20, Baseline: 20}},
		{"CV 5 %, stored 40", stat.Stored.ToPass(0.05, 0, margin, 0.0166, 40), stat.Needed{Candidate: 13, Baseline: 40}},
		{"half way to the margin", stat.Interleaved.ToPass(0.02, margin/2, margin, 0.0166, 3), stat.Needed{Candidate: 14, Baseline: 14}},
		{"at the margin no number tells", stat.Interleaved.ToPass(0.02, margin, margin, 0.0166, 3), stat.Needed{Candidate: 2001, Baseline: 2001, Never: true}},
		{"pairs of quiet differences", stat.Replayed.ToPass(0.01, 0, margin, 0.0166, 12), stat.Needed{Candidate: 4, Baseline: 4}},
		{"+10 % at CV 5 %", stat.Stored.ToRegress(0.05, math.Log(1.10), 0.0077, 12), stat.Needed{Candidate: 3, Baseline: 12}},
		{"+6 % at CV 5 %", stat.Stored.ToRegress(0.05, math.Log(1.06), 0.0077, 12), stat.Needed{Candidate: 10, Baseline: 12}},
		{"nothing is never significant", stat.Stored.ToRegress(0.05, 0, 0.0077, 12), stat.Needed{Candidate: 2001, Baseline: 2001, Never: true}},
		{"NaN decides nothing", stat.Stored.ToPass(math.NaN(), 0, margin, 0.0166, 12), stat.Needed{Candidate: 2001, Baseline: 2001, Never: true}},
	} {
		assert.Equal(t, row.want, row.got, row.name)
	}
}

// What the planner asks for does decide, and one run less does not.
func TestNeededIsTheSmallest(t *testing.T) {
	margin := math.Log(1.05)
	for _, layout := range []stat.Layout{stat.Stored, stat.Interleaved, stat.Replayed} {
		for _, s := range []float64{0.01, 0.02, 0.03, 0.05, 0.08} {
			n := layout.ToPass(s, 0, margin, 0.0166, 12)
			assert.LessOrEqual(t, layout.Resolvable(s, 0.0166, n.Baseline, n.Candidate), margin)
			if n.Candidate > stat.MinRuns && n.Baseline == 12 || layout != stat.Stored && n.Candidate > stat.MinRuns {
				assert.Greater(t, layout.Resolvable(s, 0.0166, n.Baseline, n.Candidate-1), margin, "layout %v, s %v", layout, s)
			}
		}
	}
}

// A slowdown that equals the margin is measured below it half the time, so
// what is called regressed with 80 % power is never below the margin.
func TestSmallestSlowdown(t *testing.T) {
	margin := math.Log(1.05)
	percent := func(x float64) string { return fmt.Sprintf("%.1f %%", 100*math.Expm1(x)) }
	for _, row := range []struct {
		cv   float64
		m, n int
		want string
	}{
		{0.001, 12, 12, "5.0 %"},
		{0.01, 12, 3, "5.6 %"},
		{0.01, 12, 12, "5.4 %"},
		{0.02, 12, 12, "5.7 %"},
		{0.05, 12, 12, "7.4 %"}, // the p-value, not the margin, is what it takes
	} {
		assert.Equal(t, row.want, percent(stat.Stored.Smallest(row.cv, margin, 0.0077, row.m, row.n)), "%+v", row)
	}
	assert.Equal(t, math.Inf(1), stat.Replayed.Smallest(0.01, margin, 0.0077, 0, 1))
}

func TestNeededInWords(t *testing.T) {
	assert.Equal(t, "18 runs against a baseline of 18", stat.Needed{Candidate: 18, Baseline: 18}.String())
	assert.Equal(t, "more than 2000 runs", stat.Needed{Never: true}.String())
}

func TestDecisionInWords(t *testing.T) {
	assert.Equal(t, "undecided slower within faster", fmt.Sprint(stat.Undecided, " ", stat.Slower, " ", stat.Within, " ", stat.Faster))
}

func TestRule(t *testing.T) {
	margin := math.Log(1.05)
	rule := stat.Rule{Margin: margin, Worse: 0.0077, Same: 0.0166}
	for _, row := range []struct {
		name string
		diff float64
		se   float64
		want stat.Decision
	}{
		{"clearly slower", 0.10, 0.01, stat.Slower},
		{"slower beyond chance, but below the margin as measured", 0.0487, 0.005, stat.Undecided},
		{"slower beyond chance and clearly within the margin", 0.030, 0.003, stat.Within},
		{"above the margin by chance", 0.10, 0.05, stat.Undecided},
		{"no change", 0, 0.01, stat.Within},
		{"no change, too noisy to say", 0, 0.04, stat.Undecided},
		{"faster by less than the margin", -0.03, 0.003, stat.Within},
		{"faster", -0.10, 0.01, stat.Faster},
		{"faster by chance is still not slower", -0.10, 0.05, stat.Within},
	} {
		assert.Equal(t, row.want, rule.Decide(stat.Estimate{Diff: row.diff, SE: row.se, DF: 13}), row.name)
	}
}
