package metric

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Quantile is the p-quantile of sorted values by nearest rank: the smallest
// value with at least the share p of the values at or below it. It is one of
// the values, never between two.
//
// It refuses with *TooFew what the values cannot tell: a quantile that is
// just their maximum (p90 of fewer than 10 values, p95 of fewer than 20), a
// p99 of fewer than 1,000 values and a p99.9 of fewer than 10,000, ten values
// beyond the quantile. p = 1 is the maximum and needs one value. NaN, values
// out of order and a p outside (0, 1] are errors.
func Quantile(sorted []float64, p float64) (float64, error) {
	if !(p > 0 && p <= 1) {
		return 0, fmt.Errorf("metric: a quantile must be above 0 and at most 1, got %v", p)
	}
	if len(sorted) == 0 {
		return 0, errors.New("metric: no values to take a quantile of")
	}
	for i, x := range sorted {
		if math.IsNaN(x) {
			return 0, fmt.Errorf("metric: value %d of %d is NaN: leave out what was not measured", i, len(sorted))
		}
		if i > 0 && x < sorted[i-1] {
			return 0, fmt.Errorf("metric: value %d is %v after %v: sort the values first", i, x, sorted[i-1])
		}
	}
	if err := enough(len(sorted), p); err != nil {
		return 0, err
	}
	return sorted[rank(len(sorted), p)], nil
}

// TooFew says that a sample is too small for the quantile asked of it.
type TooFew struct {
	// P is the quantile, from 0 to 1.
	P float64
	// N is the number of values and Need the number that it takes.
	N, Need int
}

// Error is, for example, "p99 of 300 values: needs 1,000".
func (e *TooFew) Error() string {
	is := ""
	if rank(e.N, e.P) == e.N-1 {
		is = " is their maximum"
	}
	return fmt.Sprintf("p%s of %s values%s: needs %s",
		strconv.FormatFloat(math.Round(e.P*1e6)/1e4, 'f', -1, 64), thousands(e.N), is, thousands(e.Need))
}

// enough returns *TooFew when n values cannot tell the p-quantile.
//
// The nearest-rank quantile differs from the maximum from 1/(1−p) values on.
// From p99 up ten values must lie beyond it: 1,000 for p99, 10,000 for p99.9.
func enough(n int, p float64) error {
	if p == 1 {
		return nil
	}
	beyond := 1.0
	if p >= 0.99 {
		beyond = 10
	}
	if need := int(math.Ceil(beyond/(1-p) - 1e-6)); n < need {
		return &TooFew{P: p, N: n, Need: need}
	}
	return nil
}

// rank is the index of the p-quantile among n > 0 sorted values. The small
// number keeps a product such as 0.07·100, a little above 7 in floating
// point, at its integer.
func rank(n int, p float64) int {
	return min(n, max(1, int(math.Ceil(p*float64(n)-1e-9)))) - 1
}

// nearest is the p-quantile of sorted durations, however few.
func nearest(sorted []time.Duration, p float64) time.Duration {
	return sorted[rank(len(sorted), p)]
}

// thousands writes n with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
