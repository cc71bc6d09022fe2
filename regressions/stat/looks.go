package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// DefaultLooks returns the numbers of candidate runs at which the gate judges
// unless told otherwise: 3, 5, 8 and 12.
func DefaultLooks() []int { return []int{3, 5, 8, 12} }

// ValidateLooks reports what is wrong with a look set: it must increase, and
// no look may come before MinRuns.
func ValidateLooks(looks []int) error {
	if len(looks) == 0 {
		return fmt.Errorf("looks: none given, need at least one number of runs")
	}
	if looks[0] < MinRuns {
		return fmt.Errorf("looks: the first is at %d runs, need at least %d", looks[0], MinRuns)
	}
	for i := 1; i < len(looks); i++ {
		if looks[i] <= looks[i-1] {
			return fmt.Errorf("looks: %v do not increase", looks)
		}
	}
	if last := looks[len(looks)-1]; last > 1000 {
		return fmt.Errorf("looks: the last is at %d runs, at most 1000", last)
	}
	return nil
}

// tabled holds the nominal levels of the usual look sets: the one-sided p at
// which each look may stop so that the whole sequence errs with probability
// alpha. Computed from 2,000,000 simulated paths a set of the paired design
// (cumulative one-sample t), whose looks depend on each other the least: the
// same levels hold, with room, for interleaved runs and for a stored baseline
// of any size, and for a gate that changes from unpaired to paired on the way.
var tabled = []struct {
	looks  []int
	levels [len(alphas)]float64
}{
	{[]int{3, 5}, [...]float64{0.0292, 0.0140, 0.0053, 0.00261, 0.00130, 0.00052}},
	{[]int{3, 5, 8}, [...]float64{0.0211, 0.0099, 0.0037, 0.00181, 0.00089, 0.00035}},
	{[]int{3, 5, 8, 12}, [...]float64{0.0166, 0.0077, 0.0029, 0.00139, 0.00068, 0.00026}},
	{[]int{3, 5, 8, 12, 20}, [...]float64{0.0138, 0.0064, 0.0023, 0.00114, 0.00055, 0.00021}},
}

// alphas are the overall rates of the table's columns.
var alphas = [...]float64{0.05, 0.025, 0.01, 0.005, 0.0025, 0.001}

// Nominal is the one-sided p-value at which each look of the set may decide so
// that all of them together err with probability alpha: 0.0077 a look for
// 3, 5, 8, 12 and 2.5 %, 0.0166 for 5 %. Tabled for the usual sets, simulated
// (with a fixed seed, up to an alpha of 0.1) for others, and never below
// alpha ÷ number of looks, which always holds. For alpha ÷ k, the share of one
// of k comparisons, it is about 0.3·alpha/k. An invalid look set or alpha is an
// error.
func Nominal(looks []int, alpha float64) (float64, error) {
	if err := ValidateLooks(looks); err != nil {
		return 0, err
	}
	if !(alpha > 0 && alpha < 0.5) {
		return 0, fmt.Errorf("alpha must be in (0, 0.5), got %v", alpha)
	}
	k := float64(len(looks))
	if len(looks) == 1 {
		return alpha, nil
	}
	for _, row := range tabled {
		if slices.Equal(row.looks, looks) {
			return math.Max(alpha/k, interpolate(row.levels, alpha)), nil
		}
	}
	return math.Max(alpha/k, simulated(looks, alpha)), nil
}

// interpolate reads a row of the table linearly in the logarithms; outside
// the table it gives 0, which leaves alpha ÷ looks.
func interpolate(levels [len(alphas)]float64, alpha float64) float64 {
	for i, at := range alphas {
		switch {
		case alpha == at:
			return levels[i]
		case alpha > at && i > 0 && alpha < alphas[i-1]:
			w := math.Log(alpha/at) / math.Log(alphas[i-1]/at)
			return math.Exp(w*math.Log(levels[i-1]) + (1-w)*math.Log(levels[i]))
		}
	}
	return 0
}

const (
	simulatedPaths = 200_000
	// largestSimulated is the largest alpha that paths are simulated for.
	largestSimulated = 0.10
)

var smallest struct {
	sync.Mutex
	of map[string][]float64
}

// simulated is the alpha-quantile, less two of its standard errors, of the
// smallest p that a path of the paired design shows at any look.
func simulated(looks []int, alpha float64) float64 {
	if alpha > largestSimulated {
		return 0
	}
	smallest.Lock()
	defer smallest.Unlock()
	key := fmt.Sprint(looks)
	ps, ok := smallest.of[key]
	if !ok {
		r := rand.New(rand.NewPCG(3, 5))
		ps = make([]float64, simulatedPaths)
		for i := range ps {
			ps[i] = smallestP(r, looks)
		}
		slices.Sort(ps)
		if smallest.of == nil {
			smallest.of = map[string][]float64{}
		}
		smallest.of[key] = ps
	}
	at := alpha*simulatedPaths - 2*math.Sqrt(alpha*(1-alpha)*simulatedPaths)
	if at < 1 {
		return 0
	}
	return ps[int(at)]
}

// smallestP is the smallest one-sided p of a one-sample t-test at the looks of
// one path of standard normal values.
func smallestP(r *rand.Rand, looks []int) float64 {
	best, n, sum, squares := 1.0, 0, 0.0, 0.0
	for _, look := range looks {
		for ; n < look; n++ {
			x := r.NormFloat64()
			sum += x
			squares += x * x
		}
		mean, df := sum/float64(n), float64(n-1)
		v := (squares - float64(n)*mean*mean) / df
		// A t below 1 has a p above 0.15 and never decides: not worth its CDF.
		if t := mean / math.Sqrt(v/float64(n)); t > 1 {
			best = math.Min(best, tCDF(-t, df))
		}
	}
	return best
}
