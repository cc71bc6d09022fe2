//go:build linux

package main

import (
	"cmp"
	"math"
	"slices"
)

// dist is a distribution in the three numbers that every client prints, in
// milliseconds.
type dist struct{ Mean, P50, P99 float64 }

// none is a distribution that is not known.
var none = dist{math.NaN(), math.NaN(), math.NaN()}

// distOf is the distribution of values, which it sorts; none without values.
func distOf(values []float64) dist {
	if len(values) == 0 {
		return none
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return dist{sum / float64(len(values)), quantile(values, 0.5), quantile(values, 0.99)}
}

func (d dist) minus(e dist) dist { return dist{d.Mean - e.Mean, d.P50 - e.P50, d.P99 - e.P99} }

// quantile interpolates between sorted values as numpy does by default, and so
// most of the clients.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// median is the middle of what is known of values; NaN where nothing is.
func median(values []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return math.NaN()
	}
	slices.Sort(known)
	return quantile(known, 0.5)
}

func sortedBy[T any, K cmp.Ordered](values []T, key func(T) K) []T {
	slices.SortFunc(values, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return values
}
