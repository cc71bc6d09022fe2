package stat

import "math"

// Floor is the smallest standard deviation of a run's logarithm that is
// believed, 0.1 %. It stands in for the measured one when runs are identical,
// as they are in virtual time with the same engine seed: no real engine
// repeats itself better, and a deviation of zero would make any difference
// "significant".
const Floor = 0.001

// CVUpper is the upper confidence bound of a coefficient of variation that
// was measured as cv with df degrees of freedom, by the χ² distribution. A CV
// of 3+3 runs (df 4) may be 1.56 times what was measured at the 80 % bound;
// planning with the bound keeps a lucky small sample from promising too much.
func CVUpper(cv, df, confidence float64) float64 {
	if !(df > 0) {
		return math.Inf(1)
	}
	return cv * math.Sqrt(df/chi2Quantile(1-confidence, df))
}

// CVLower is the lower confidence bound of a coefficient of variation. When
// even this makes a margin unresolvable, no run is worth making.
func CVLower(cv, df, confidence float64) float64 {
	if !(df > 0) {
		return 0
	}
	return cv * math.Sqrt(df/chi2Quantile(confidence, df))
}

// Prior joins a standard deviation s with df degrees of freedom to one known
// from the history of the same class of machines, s0 with df0: s̃² =
// (d0·s0² + df·s²)/(d0+df), d0 = min(df0, 10). The history is dropped, and
// used is false, when the runs are noisier than it allows, s²/s0² >
// F₀.₉₀(df, d0): unguarded, a machine at twice its usual noise gives up to
// 17 % false alarms instead of 5 %, two-sided; guarded, 7.3 % one-sided.
//
// It is for planning. The gate does not draw on it: over its four looks it
// would save half a run of 4.4 (3.8 at a CV of 2 %), and where today's noise
// is 1.5 or 2 times the history's it would call 4.2 and 4.5 % of unchanged builds
// regressed where it promises 2.5 % (simulated, TestCalibrationOfAPrior).
func Prior(s, df, s0, df0 float64) (sd, dof float64, used bool) {
	d0 := math.Min(df0, 10)
	if !(d0 > 0) || !(s0 > 0) || !(df > 0) || !(s*s/(s0*s0) <= fQuantile(0.90, df, d0)) {
		return s, df, false
	}
	return math.Sqrt((d0*s0*s0 + df*s*s) / (d0 + df)), d0 + df, true
}
