package stat_test

import (
	"math"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
)

// What is not finite, or no probability, decides nothing and does not panic.
func TestOutOfBounds(t *testing.T) {
	e, err := stat.Unpaired([]float64{1, 2, 3}, []float64{1, 2, 3}, 0.001)
	assert.NoError(t, err)
	for _, r := range []stat.Rule{
		{Margin: math.Inf(1), Worse: 0.01, Same: 0.01}, {Margin: math.NaN(), Worse: 0.01, Same: 0.01},
		{Margin: 9, Worse: math.NaN(), Same: 0.01}, {Margin: 9, Worse: 0.01, Same: math.NaN()},
	} {
		assert.Equal(t, stat.Undecided, r.Decide(e), "%+v", r)
	}
	assert.Equal(t, stat.Within, stat.Rule{Margin: 9, Worse: 0.01, Same: 0.01}.Decide(e))

	for _, p := range []float64{-1, 0, 1, 1.5, math.NaN()} {
		assert.False(t, stat.QuantileHolds(p, 1000, 0), "p %v", p)
	}
	_, _, used := stat.Prior(math.NaN(), 4, 0.01, 10)
	assert.False(t, used, "a deviation that is not known")
	values := make([]float64, 200)
	for _, confidence := range []float64{0, 1, 2, math.NaN()} {
		_, _, err := stat.Sectioned(values, func(x []float64) float64 { return x[0] }, confidence)
		assert.ErrorContains(t, err, "confidence must be above 0 and below 1")
	}
	for _, df := range []float64{-1, 0, math.NaN()} {
		assert.True(t, math.IsNaN(stat.Estimate{Diff: 1, SE: 1, DF: df}.AtMost(0)), "df %v", df)
	}
}
