package stat

import (
	"fmt"
	"math"
)

// MinPairs is the smallest number of pairs for a paired test. Below it the
// degrees of freedom lost cost more than any correlation gives back: pairing
// breaks even at a correlation of 0.56 with three pairs, 0.37 with four, 0.28
// with five and 0.15 with eight.
const MinPairs = 4

// Paired tests differences, candidate − baseline, of runs that shared their
// arrivals. floor stands in for a smaller standard deviation of one run.
// Fewer than MinPairs is an error.
func Paired(diffs []float64, floor float64) (Estimate, error) {
	if len(diffs) < MinPairs {
		return Estimate{}, tooFew("pairs", len(diffs), MinPairs)
	}
	for _, x := range diffs {
		if !finite(x) {
			return Estimate{}, fmt.Errorf("stat: a difference is %v", x)
		}
	}
	n := len(diffs)
	mean, v := meanVar(diffs)
	s := floored(math.Sqrt(v/2), floor)
	return Estimate{
		Design: DesignPaired, Diff: mean, DF: float64(n - 1), S: s, M: n, N: n,
		SE: s * math.Sqrt(2/float64(n)),
	}, nil
}
