package stat

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// tCDF is P(T ≤ x) of Student's t with df degrees of freedom.
func tCDF(x, df float64) float64 {
	switch {
	case !(df > 0):
		return math.NaN()
	case math.IsInf(x, 1):
		return 1
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(x)
}

// tQuantile is the p-quantile of Student's t with df degrees of freedom; +Inf
// is the normal distribution.
func tQuantile(p, df float64) float64 {
	if math.IsInf(df, 1) {
		return distuv.UnitNormal.Quantile(p)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}
	if df != math.Trunc(df) {
		return t.Quantile(p) // Welch's: hardly ever the same twice
	}
	key := [2]float64{p, df}
	if q, ok := quantiles.Load(key); ok {
		return q.(float64)
	}
	q := t.Quantile(p)
	quantiles.Store(key, q)
	return q
}

// quantiles keeps those of whole degrees of freedom: a gate asks for the same
// few over and over, and each takes an iteration.
var quantiles sync.Map

// normalCDF is the standard normal distribution function.
func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// fQuantile is the p-quantile of Fisher's F with d1 and d2 degrees of freedom.
func fQuantile(p, d1, d2 float64) float64 {
	key := [3]float64{p, d1, d2}
	if q, ok := fQuantiles.Load(key); ok {
		return q.(float64)
	}
	// gonum's F has no Quantile; F = (d2/d1)·B/(1−B) with B ~ Beta(d1/2, d2/2).
	b := distuv.Beta{Alpha: d1 / 2, Beta: d2 / 2}.Quantile(p)
	q := d2 / d1 * b / (1 - b)
	fQuantiles.Store(key, q)
	return q
}

// fQuantiles keeps them: their degrees of freedom are counts of runs, the same
// few over and over.
var fQuantiles sync.Map

// chi2Quantile is the p-quantile of χ² with df degrees of freedom.
func chi2Quantile(p, df float64) float64 {
	return distuv.ChiSquared{K: df}.Quantile(p)
}

// noncentral integrates tails of the noncentral t with some degrees of
// freedom. T' = (Z + delta)/S with S = √(χ²/df), so P(T' > c) is the
// expectation of Φ(delta − c·S), a sum over the density of S.
type noncentral struct{ s, weight []float64 }

func newNoncentral(df float64) noncentral {
	lo := math.Sqrt(chi2Quantile(1e-13, df) / df)
	hi := math.Sqrt(chi2Quantile(1-1e-13, df) / df)
	const panels = 400
	var n noncentral
	var mass float64
	for i := 1; i < panels; i++ { // the density is negligible at both ends
		s := lo + float64(i)*(hi-lo)/panels
		w := float64(2 + 2*(i%2)) // Simpson's rule
		w *= math.Exp((df-1)*math.Log(s) - df*(s*s-1)/2)
		n.s, n.weight = append(n.s, s), append(n.weight, w)
		mass += w
	}
	for i := range n.weight {
		n.weight[i] /= mass
	}
	return n
}

// tail is P(T' > c) with noncentrality delta.
func (n noncentral) tail(c, delta float64) float64 {
	var sum float64
	for i, s := range n.s {
		sum += n.weight[i] * normalCDF(delta-c*s)
	}
	return sum
}

// finite reports whether every value is a number and none is infinite.
func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// meanVar is the mean and the unbiased variance; the variance of fewer than
// two values is NaN.
func meanVar(xs []float64) (mean, variance float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x
	}
	mean /= n
	for _, x := range xs {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / (n - 1)
}
