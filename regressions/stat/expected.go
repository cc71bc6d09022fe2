package stat

import "math"

// Expected is the standard error that a comparison has, or will have, with its
// degrees of freedom: all that decides what it can show. Without a degree of
// freedom it shows nothing, and every size is +Inf.
type Expected struct {
	// SE is the standard error and DF its degrees of freedom, both positive.
	SE, DF float64
	// Power is the probability with which the sizes are found; zero is 0.80.
	Power float64
}

// Expect is what a look of n candidate runs will have when runs vary by s; m
// counts only where the baseline has a size of its own.
func (l Layout) Expect(s float64, m, n int) Expected {
	df, scale := l.shape(m, n)
	return Expected{SE: s * scale, DF: df}
}

// MDE is the smallest true difference that is significant at the one-sided
// level alpha with the power asked for.
func (e Expected) MDE(alpha float64) float64 {
	return Test{Alpha: alpha, Power: e.Power}.Factor(e.DF) * e.SE
}

// Line is the smallest estimate that is significant at the one-sided level
// alpha. It says nothing of power: a true difference of that size is found
// half the time.
func (e Expected) Line(alpha float64) float64 {
	if !(e.DF >= 1) {
		return math.Inf(1)
	}
	return Test{Alpha: alpha}.Critical(e.DF) * e.SE
}

// Smallest is the smallest true difference that is called regressed, when that
// takes both a one-sided p of alpha and an estimate of at least the margin. It
// is never below the margin: the estimate of a difference that equals the
// margin is below it half the time.
func (e Expected) Smallest(margin, alpha float64) float64 {
	return math.Max(e.MDE(alpha), math.Max(margin, e.Line(alpha))+e.luck())
}

// Resolvable is the smallest margin within which an unchanged engine is shown
// to be, at the nominal level of Within: (t₁₋ₚ + t₀.₈)·SE. With p = 0.0166 it is
// 3.37 standard deviations of a run for 3+3 runs and 1.28 for 12+12.
func (e Expected) Resolvable(level float64) float64 { return e.Line(level) + e.luck() }

// luck is how far an estimate falls short of the truth with the probability
// that the power leaves.
func (e Expected) luck() float64 {
	if !(e.DF >= 1) {
		return math.Inf(1)
	}
	return tQuantile(Test{Power: e.Power}.power(), e.DF) * e.SE
}
