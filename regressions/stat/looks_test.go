package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// The two constants of the default gate, and those for a share of a job.
func TestNominal(t *testing.T) {
	for _, row := range []struct {
		looks []int
		alpha float64
		want  float64
	}{
		{[]int{3, 5, 8, 12}, 0.025, 0.0077},
		{[]int{3, 5, 8, 12}, 0.05, 0.0166},
		{[]int{3, 5, 8, 12}, 0.01, 0.0029},
		{[]int{3, 5}, 0.025, 0.0140},
		{[]int{3, 5, 8}, 0.025, 0.0099},
		{[]int{3, 5, 8, 12, 20}, 0.05, 0.0138},
		{[]int{8}, 0.025, 0.025}, // one look is a plain test
		{[]int{3, 5, 8, 12}, 0.0001, 0.000025},
	} {
		got, err := stat.Nominal(row.looks, row.alpha)
		require.NoError(t, err)
		assert.InDelta(t, row.want, got, 1e-9, "%v at %v", row.looks, row.alpha)
	}
}

// Sharing the rate among k comparisons costs about 0.31·α/k a look, and never
// more than dividing by the looks as well would.
func TestNominalForASharedRate(t *testing.T) {
	looks := stat.DefaultLooks()
	last := 1.0
	for k := 1; k <= 400; k++ {
		alpha := 0.025 / float64(k)
		p, err := stat.Nominal(looks, alpha)
		require.NoError(t, err)
		assert.Less(t, p, last, "k = %d", k)
		assert.GreaterOrEqual(t, p, alpha/4, "k = %d", k)
		assert.LessOrEqual(t, p, 0.3081*alpha, "k = %d", k)
		last = p
	}
}

// A look set that is not tabled is simulated, with levels between Bonferroni's
// and those of fewer looks.
func TestNominalOfAnyLookSet(t *testing.T) {
	for _, looks := range [][]int{{4, 8}, {3, 6, 12}, {5, 10, 20, 40}} {
		p, err := stat.Nominal(looks, 0.025)
		require.NoError(t, err)
		again, err := stat.Nominal(looks, 0.025)
		require.NoError(t, err)
		assert.Equal(t, p, again, "%v", looks)
		assert.Greater(t, p, 0.025/float64(len(looks)), "%v", looks)
		assert.Less(t, p, 0.025, "%v", looks)
		small, err := stat.Nominal(looks, 1e-6)
		require.NoError(t, err)
		assert.Equal(t, 1e-6/float64(len(looks)), small, "too rare to be simulated")
	}
}

func TestBadLooks(t *testing.T) {
	for _, row := range []struct {
		looks []int
		want  string
	}{
		{nil, "looks: none given, need at least one number of runs"},
		{[]int{2, 5}, "looks: the first is at 2 runs, need at least 3"},
		{[]int{3, 5, 5}, "looks: [3 5 5] do not increase"},
		{[]int{8, 5}, "looks: [8 5] do not increase"},
		{[]int{3, 5000}, "looks: the last is at 5000 runs, at most 1000"},
	} {
		assert.EqualError(t, stat.ValidateLooks(row.looks), row.want)
		_, err := stat.Nominal(row.looks, 0.025)
		assert.EqualError(t, err, row.want)
	}
	for _, alpha := range []float64{0, -1, 0.5, math.NaN()} {
		_, err := stat.Nominal(stat.DefaultLooks(), alpha)
		assert.ErrorContains(t, err, "alpha must be in (0, 0.5)")
	}
}

func TestDefaultLooksAreACopy(t *testing.T) {
	stat.DefaultLooks()[0] = 99
	assert.Equal(t, []int{3, 5, 8, 12}, stat.DefaultLooks())
}

// The levels of every look set and design, by simulation: the smallest p of a
// path falls below the level with probability α.
func TestCalibrationOfTheLooks(t *testing.T) {
	n := 20_000
	if long() {
		n = 1_000_000
	}
	var cells []cell
	for _, row := range []struct {
		looks  []int
		design string
		m      int
		levels [3]float64 // for α = 0.05, 0.025, 0.01
	}{
		{[]int{3, 5}, "interleaved", 0, [3]float64{0.0300, 0.0143, 0.0055}},
		{[]int{3, 5, 8}, "interleaved", 0, [3]float64{0.0223, 0.0105, 0.0039}},
		{[]int{3, 5, 8, 12}, "interleaved", 0, [3]float64{0.0177, 0.0082, 0.0031}},
		{[]int{3, 5, 8, 12}, "stored", 5, [3]float64{0.0226, 0.0104, 0.0038}},
		{[]int{3, 5, 8, 12}, "paired", 0, [3]float64{0.0167, 0.0077, 0.0029}},
		{[]int{3, 5, 8, 12, 20}, "interleaved", 0, [3]float64{0.0146, 0.0068, 0.0025}},
	} {
		ps := smallestPs(row.looks, row.design, row.m, n)
		for i, alpha := range []float64{0.05, 0.025, 0.01} {
			// The share of paths below the tabled level is α, and its error
			// that of the simulation, of the table's, and of its rounding.
			below := float64(sortedBelow(ps, row.levels[i])) / float64(n)
			se := math.Sqrt(alpha*(1-alpha)*(1/float64(n)+1/1e5) + math.Pow(alpha/row.levels[i], 2)*rounding(4))
			cells = append(cells, cell{fmt.Sprintf("%v %s, p = %.4f", row.looks, row.design, row.levels[i]), alpha, below, se})
			if row.design == "paired" {
				level, err := stat.Nominal(row.looks, alpha)
				require.NoError(t, err)
				assert.LessOrEqual(t, level, row.levels[i], "never more than the simulated level")
			}
		}
	}
	judge(t, cells)
}

// The levels in use hold for the paired design, which needs the lowest.
func TestCalibrationOfNominal(t *testing.T) {
	n := 20_000
	if long() {
		n = 1_000_000
	}
	for _, looks := range [][]int{{3, 5}, {3, 5, 8}, {3, 5, 8, 12}, {3, 5, 8, 12, 20}, {4, 8}, {3, 6, 9, 12, 15}} {
		ps := smallestPs(looks, "paired", 0, n)
		for _, alpha := range []float64{0.05, 0.025, 0.0083, 0.005, 0.002, 0.001, 0.0002} {
			level, err := stat.Nominal(looks, alpha)
			require.NoError(t, err)
			atMost(t, fmt.Sprintf("%v at %v", looks, alpha), float64(sortedBelow(ps, level)), n, alpha)
		}
	}
}

func sortedBelow(ps []float64, level float64) int {
	i, _ := slices.BinarySearch(ps, level)
	return i
}

// smallestPs are the sorted smallest one-sided p-values of n paths.
func smallestPs(looks []int, design string, m, n int) []float64 {
	r := rand.New(rand.NewPCG(11, uint64(m)))
	ps := make([]float64, n)
	for i := range ps {
		ps[i] = smallestP(r, looks, design, m)
	}
	slices.Sort(ps)
	return ps
}

func smallestP(r *rand.Rand, looks []int, design string, m int) float64 {
	best := 1.0
	var base, cand running
	for range m {
		base.add(r.NormFloat64())
	}
	for _, look := range looks {
		for int(cand.n) < look {
			cand.add(r.NormFloat64())
			if design == "interleaved" {
				base.add(r.NormFloat64())
			}
		}
		var tt, df float64
		if design == "paired" {
			df = cand.n - 1
			tt = cand.mean() / math.Sqrt(cand.ss()/df/cand.n)
		} else {
			df = base.n + cand.n - 2
			tt = (cand.mean() - base.mean()) / math.Sqrt((base.ss()+cand.ss())/df*(1/base.n+1/cand.n))
		}
		best = math.Min(best, distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-tt))
	}
	return best
}

// running is a sample by its sums.
type running struct{ n, sum, squares float64 }

func (s *running) add(x float64) { s.n++; s.sum += x; s.squares += x * x }
func (s running) mean() float64  { return s.sum / s.n }
func (s running) ss() float64    { return s.squares - s.sum*s.sum/s.n }
