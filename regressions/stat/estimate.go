package stat

import (
	"fmt"
	"math"
)

// Design is how an Estimate was made.
type Design string

// The designs.
const (
	// DesignPooled: two independent samples, one variance.
	DesignPooled Design = "pooled"
	// DesignWelch: two independent samples, the candidate the noisier one.
	DesignWelch Design = "welch"
	// DesignPaired: differences of runs with the same arrivals.
	DesignPaired Design = "paired"
	// DesignStarts: the engine start as the unit.
	DesignStarts Design = "starts"
	// DesignPairedStarts: differences of runs with the same arrivals, averaged
	// over each start of the baseline; the start as the unit.
	DesignPairedStarts Design = "paired-starts"
)

// Estimate is a difference of two arms with its uncertainty, on the scale of
// the test; positive is worse.
type Estimate struct {
	// Design is how it was made.
	Design Design
	// Diff is the estimated difference, SE its standard error and DF the
	// degrees of freedom of SE.
	Diff, SE, DF float64
	// S is the standard deviation of one unit that SE was made of: for a
	// paired design of one arm's share of a difference, so that
	// SE = S·√(1/M + 1/N) in every design but Welch's.
	S float64
	// M and N are the numbers of units in the baseline and in the candidate.
	M, N int
}

// AtMost is the one-sided p-value of "the true difference is at most x": a
// small one shows that it is larger. NaN when the estimate is not finite.
func (e Estimate) AtMost(x float64) float64 {
	if !finite(e.Diff, e.SE) || !(e.SE > 0) {
		return math.NaN()
	}
	return tCDF(-(e.Diff-x)/e.SE, e.DF)
}

// AtLeast is the one-sided p-value of "the true difference is at least x": a
// small one shows that it is smaller. NaN when the estimate is not finite.
func (e Estimate) AtLeast(x float64) float64 {
	if !finite(e.Diff, e.SE) || !(e.SE > 0) {
		return math.NaN()
	}
	return tCDF((e.Diff-x)/e.SE, e.DF)
}

// Interval is the two-sided confidence interval of the difference.
func (e Estimate) Interval(confidence float64) (low, high float64) {
	t := tQuantile((1+confidence)/2, e.DF)
	return e.Diff - t*e.SE, e.Diff + t*e.SE
}

// MDE is the smallest true difference that these runs would have shown at the
// one-sided level alpha with 80 % power.
func (e Estimate) MDE(alpha float64) float64 { return e.expected().MDE(alpha) }

// Line is the smallest estimate that is significant at the one-sided level
// alpha. It says nothing of power: a true difference of that size is found
// half the time.
func (e Estimate) Line(alpha float64) float64 { return e.expected().Line(alpha) }

// Smallest is the smallest true difference that these runs would have called
// regressed with 80 % power; see Expected.Smallest.
func (e Estimate) Smallest(margin, alpha float64) float64 {
	return e.expected().Smallest(margin, alpha)
}

func (e Estimate) expected() Expected { return Expected{SE: e.SE, DF: e.DF} }

func floored(s, floor float64) float64 { return math.Max(s, floor) }

func tooFew(what string, have, need int) error {
	return fmt.Errorf("stat: %s: have %d, need at least %d", what, have, need)
}
