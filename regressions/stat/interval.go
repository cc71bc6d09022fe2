package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// OrderInterval gives the ranks, counted from 1, of the sorted values between
// which the p-quantile lies with the confidence asked for, whatever the
// distribution, if the values are independent: requests of one run are not.
// ok is false when no value is large (or small) enough to bound it: a 95 %
// interval of p99 needs 368 values, one of p99.9 needs 3,688.
func OrderInterval(n int, p, confidence float64) (low, high int, ok bool) {
	if n < 1 || !(p > 0 && p < 1) || !(confidence > 0 && confidence < 1) {
		return 0, 0, false
	}
	tail := (1 - confidence) / 2
	bin := distuv.Binomial{N: float64(n), P: p}
	// The value of rank r is above the quantile when fewer than r values are
	// below it.
	for r := 1; r <= n && bin.CDF(float64(r-1)) <= tail; r++ {
		low = r
	}
	for r := n; r >= 1 && 1-bin.CDF(float64(r-1)) <= tail; r-- {
		high = r
	}
	return low, high, low > 0 && high > 0
}

// Batches is the number of batches for intervals within a run.
const Batches = 10

// Sectioned is the interval of a statistic of one run by sectioning: the
// values, in the order of time, are cut into ten batches, and the batches'
// statistics are spread around that of the whole, with Student's t of nine
// degrees of freedom. Batches keep most of the dependence between neighbours
// inside them. It is for reporting; verdicts compare runs. Fewer than 100
// values, or a statistic that is not finite, is an error.
func Sectioned(values []float64, statistic func([]float64) float64, confidence float64) (low, high float64, err error) {
	if len(values) < 10*Batches {
		return 0, 0, tooFew("values to section", len(values), 10*Batches)
	}
	if !(confidence > 0 && confidence < 1) {
		return 0, 0, fmt.Errorf("stat: confidence must be above 0 and below 1, got %v", confidence)
	}
	whole := statistic(values)
	var ss float64
	for b := range Batches {
		part := statistic(values[b*len(values)/Batches : (b+1)*len(values)/Batches])
		ss += (part - whole) * (part - whole)
	}
	half := tQuantile((1+confidence)/2, Batches-1) * math.Sqrt(ss/(Batches-1)/Batches)
	if !finite(whole, half) {
		return 0, 0, fmt.Errorf("stat: the statistic of a batch is not finite")
	}
	return whole - half, whole + half, nil
}
