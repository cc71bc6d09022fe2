package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// tCDF is P(T ≤ x) of Student's t with df degrees of freedom.
func tCDF(x, df float64) float64 {
	if math.IsInf(x, 1) {
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
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// normalCDF is the standard normal distribution function.
func normalCDF(x float64) float64 { return distuv.UnitNormal.CDF(x) }

// fQuantile is the p-quantile of Fisher's F with d1 and d2 degrees of freedom.
func fQuantile(p, d1, d2 float64) float64 {
	// gonum's F has no Quantile; F = (d2/d1)·B/(1−B) with B ~ Beta(d1/2, d2/2).
	b := distuv.Beta{Alpha: d1 / 2, Beta: d2 / 2}.Quantile(p)
	return d2 / d1 * b / (1 - b)
}

// chi2Quantile is the p-quantile of χ² with df degrees of freedom.
func chi2Quantile(p, df float64) float64 {
	return distuv.ChiSquared{K: df}.Quantile(p)
}

// noncentralTail is P(T' > c) of the noncentral t with df degrees of freedom
// and noncentrality delta. T' = (Z + delta)/S with S = √(χ²/df), so the tail
// is the expectation of Φ(delta − c·S), integrated over the density of S.
func noncentralTail(c, df, delta float64) float64 {
	lo := math.Sqrt(chi2Quantile(1e-13, df) / df)
	hi := math.Sqrt(chi2Quantile(1-1e-13, df) / df)
	logDensity := func(s float64) float64 {
		lg, _ := math.Lgamma(df / 2)
		return math.Ln2 + df/2*math.Log(df/2) - lg + (df-1)*math.Log(s) - df*s*s/2
	}
	const panels = 600
	h := (hi - lo) / panels
	sum, mass := 0.0, 0.0
	for i := 0; i <= panels; i++ {
		s := lo + float64(i)*h
		if s <= 0 {
			continue
		}
		w := 2.0
		switch {
		case i == 0 || i == panels:
			w = 1
		case i%2 == 1:
			w = 4
		}
		d := w * math.Exp(logDensity(s))
		sum += d * normalCDF(delta-c*s)
		mass += d
	}
	return sum / mass
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
