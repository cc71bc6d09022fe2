package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
)

func TestAttainment(t *testing.T) {
	outcomes := func(n int, good func(i int) bool) []bool {
		out := make([]bool, n)
		for i := range out {
			out[i] = good(i)
		}
		return out
	}
	for _, row := range []struct {
		name         string
		good         []bool
		p, low, high float64
		deff         float64
	}{
		{"ten, plain Wilson", outcomes(10, func(i int) bool { return i != 3 }), 0.9, 0.5958, 0.9821, 1},
		{"nothing good", outcomes(10, func(int) bool { return false }), 0, 0, 0.2775, 1},
		{"all good of 400", outcomes(400, func(int) bool { return true }), 1, 0.9874, 1, 1},
		{"misses spread evenly", outcomes(400, func(i int) bool { return i%10 != 0 }), 0.9, 0.8609, 0.9290, 1},
		{"misses all at the end", outcomes(400, func(i int) bool { return i < 360 }), 0.9, 0.5234, 0.9866, 44.44},
	} {
		got := stat.Attainment(row.good, 0.95)
		assert.InDelta(t, row.p, got.P, 1e-12, row.name)
		assert.InDelta(t, row.low, got.Low, 5e-5, row.name)
		assert.InDelta(t, row.high, got.High, 5e-5, row.name)
		assert.InDelta(t, row.deff, got.Deff, 0.005, row.name)
	}
	none := stat.Attainment(nil, 0.95)
	assert.True(t, math.IsNaN(none.P), "nothing measured is no share")
	assert.Equal(t, []float64{0, 1}, []float64{none.Low, none.High})
}

// Coverage on an M/M/1 queue: requests near saturation are not independent,
// and an interval that thinks so covers a fraction of what it says.
func TestCalibrationOfAttainment(t *testing.T) {
	n := 400
	if long() {
		n = 4_000
	}
	for _, row := range []struct {
		load                 float64
		atLeast, plainAtMost float64
	}{{0.001, 0.94, 1}, {0.5, 0.90, 0.75}, {0.8, 0.80, 0.45}} {
		r := rand.New(rand.NewPCG(13, uint64(1000*row.load)))
		// The limit that 90 % of the sojourn times, exponential of rate
		// 1 − load, hold.
		limit, covered, plain := math.Log(10)/(1-row.load), 0, 0
		for range n {
			good := mm1(r, row.load, limit, 1000)
			s := stat.Attainment(good, 0.95)
			if s.Low <= 0.9 && 0.9 <= s.High {
				covered++
			}
			if math.Abs(s.P-0.9) <= 1.96*math.Sqrt(s.P*(1-s.P)/1000) {
				plain++
			}
		}
		rate, plainRate := float64(covered)/float64(n), float64(plain)/float64(n)
		t.Logf("load %.1f: %.2f covered, plain %.2f", row.load, rate, plainRate)
		assert.GreaterOrEqual(t, rate, row.atLeast, "load %v", row.load)
		assert.LessOrEqual(t, plainRate, row.plainAtMost, "load %v", row.load)
	}
}

// mm1 says which of n requests of a stationary M/M/1 queue with service rate 1
// took at most limit.
func mm1(r *rand.Rand, load, limit float64, n int) []bool {
	good := make([]bool, n)
	// The waiting time in equilibrium: none with probability 1 − load.
	wait := 0.0
	if r.Float64() < load {
		wait = r.ExpFloat64() / (1 - load)
	}
	for i := range good {
		service := r.ExpFloat64()
		good[i] = wait+service <= limit
		wait = math.Max(0, wait+service-r.ExpFloat64()/load)
	}
	return good
}
