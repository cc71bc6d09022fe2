package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// From how many values on a 95 % interval of a percentile has two ends.
func TestOrderIntervalNeedsValues(t *testing.T) {
	for p, need := range map[float64]int{0.99: 368, 0.999: 3688} {
		_, high, ok := stat.OrderInterval(need, p, 0.95)
		assert.True(t, ok, "p%v of %d", 100*p, need)
		assert.Equal(t, need, high, "bounded by the largest value just so")
		_, _, ok = stat.OrderInterval(need-1, p, 0.95)
		assert.False(t, ok, "p%v of %d", 100*p, need-1)
	}
	for _, bad := range [][3]float64{{0, 0.5, 0.95}, {10, 0, 0.95}, {10, 1, 0.95}, {10, 0.5, 1}, {10, math.NaN(), 0.95}} {
		_, _, ok := stat.OrderInterval(int(bad[0]), bad[1], bad[2])
		assert.False(t, ok, "%v", bad)
	}
}

// The median of ten: the textbook's ranks 2 and 9 cover 97.9 %.
func TestOrderIntervalOfTheMedian(t *testing.T) {
	low, high, ok := stat.OrderInterval(10, 0.5, 0.95)
	assert.True(t, ok)
	assert.Equal(t, []int{2, 9}, []int{low, high})
}

// The interval covers for independent values of any distribution.
func TestCalibrationOfOrderInterval(t *testing.T) {
	n := 500
	if long() {
		n = 20_000
	}
	r := rand.New(rand.NewPCG(12, 1))
	low, high, ok := stat.OrderInterval(1000, 0.99, 0.95)
	require.True(t, ok)
	covered := 0
	for range n {
		xs := make([]float64, 1000)
		for i := range xs {
			xs[i] = r.ExpFloat64()
		}
		slices.Sort(xs)
		if q := -math.Log(0.01); xs[low-1] <= q && q <= xs[high-1] {
			covered++
		}
	}
	rate := float64(covered) / float64(n)
	t.Logf("p99 of 1,000 exponential values: %.3f covered", rate)
	assert.GreaterOrEqual(t, rate, 0.95-3*math.Sqrt(0.05*0.95/float64(n)))
	assert.LessOrEqual(t, rate, 0.985, "wide for nothing")
}

func TestSectioned(t *testing.T) {
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(i % 10) // every batch is 0…9: no spread between them
	}
	low, high, err := stat.Sectioned(values, average, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 4.5, low, 1e-12)
	assert.InDelta(t, 4.5, high, 1e-12)

	for i := range values {
		values[i] = float64(i / 10) // batch b is all b: means 0…9 around 4.5
	}
	low, high, err = stat.Sectioned(values, average, 0.95)
	require.NoError(t, err)
	// √(82.5/9/10) = 0.957, times t₉ = 2.262.
	assert.InDelta(t, 4.5-2.166, low, 0.001)
	assert.InDelta(t, 4.5+2.166, high, 0.001)

	_, _, err = stat.Sectioned(values[:99], average, 0.95)
	assert.EqualError(t, err, "stat: values to section: have 99, need at least 100")
	values[3] = math.NaN()
	_, _, err = stat.Sectioned(values, average, 0.95)
	assert.EqualError(t, err, "stat: the statistic of a batch is not finite")
}

func average(xs []float64) float64 {
	m, _ := moments(xs)
	return m
}

// MLPerf's early stopping: requests that show p99 with 99 % confidence.
func TestQuantileNeeds(t *testing.T) {
	for over, want := range map[int]int{0: 459, 1: 662, 10: 2010} {
		assert.Equal(t, want, stat.QuantileNeeds(0.99, over), "%d over", over)
		assert.True(t, stat.QuantileHolds(0.99, want, over))
		assert.False(t, stat.QuantileHolds(0.99, want-1, over))
	}
	assert.Equal(t, 0, stat.QuantileNeeds(1, 0))
	assert.Equal(t, 0, stat.QuantileNeeds(0.99, -1))
	assert.False(t, stat.QuantileHolds(0.99, 0, 0), "nothing shows nothing")
	assert.False(t, stat.QuantileHolds(0.99, 5, 6))
}
