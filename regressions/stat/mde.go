package stat

import (
	"math"
	"sync"
)

// Power is the power of every plan and every MDE here unless another is given.
const Power = 0.80

// Test is a t-test by its error rates.
type Test struct {
	// Alpha is the probability of a false alarm.
	Alpha float64
	// Sides is 1 or 2; zero is 1.
	Sides int
	// Power is the probability with which the MDE is caught; zero is 0.80.
	Power float64
}

// Critical is the t that the test's statistic must exceed, with df degrees of
// freedom.
func (t Test) Critical(df float64) float64 {
	return tQuantile(1-t.Alpha/float64(max(t.Sides, 1)), df)
}

// Factor is the smallest true difference that the test catches with its
// power, in standard errors. It is exact: the noncentrality at which the
// noncentral t exceeds the critical value with that probability. The usual
// sum of two t quantiles is 5 % below it at two runs an arm and 1 % at three.
// Without a degree of freedom it is +Inf.
func (t Test) Factor(df float64) float64 {
	if !(df >= 1) || !(t.Alpha > 0 && t.Alpha < 1) {
		return math.Inf(1)
	}
	key := factorKey{t.Alpha, max(t.Sides, 1), t.power(), df}
	if f, ok := factors.Load(key); ok {
		return f.(float64)
	}
	f := t.factor(df)
	if df == math.Trunc(df) {
		factors.Store(key, f)
	}
	return f
}

// factors keeps what was computed for whole degrees of freedom: a gate asks for
// the same few over and over.
var factors sync.Map

type factorKey struct {
	alpha float64
	sides int
	power float64
	df    float64
}

func (t Test) factor(df float64) float64 {
	power, c, dist := t.power(), t.Critical(df), newNoncentral(df)
	caught := func(delta float64) float64 {
		p := dist.tail(c, delta)
		if t.Sides == 2 {
			p += dist.tail(c, -delta)
		}
		return p
	}
	lo, hi := 0.0, c+tQuantile(power, df)
	for caught(hi) < power {
		hi *= 2
	}
	for hi-lo > 1e-9*hi {
		if mid := (lo + hi) / 2; caught(mid) < power {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// MDE is the smallest detectable effect of a comparison of n candidate runs
// with m baseline runs, all independent with coefficient of variation cv: the
// difference, in the unit of cv, that the test catches with its power. With
// one run an arm it is +Inf.
func (t Test) MDE(cv float64, m, n int) float64 {
	if m < 1 || n < 1 {
		return math.Inf(1)
	}
	return t.Factor(float64(m+n-2)) * cv * math.Sqrt(1/float64(m)+1/float64(n))
}

// Quick is the MDE by the sum of two quantiles, (t₁₋ₐ + t₀.₈)·√(1/m+1/n) of
// cv, for planning loops: within 0.5 % of MDE from four runs an arm on.
func (t Test) Quick(cv float64, m, n int) float64 {
	df := float64(m + n - 2)
	if m < 1 || n < 1 || df < 1 {
		return math.Inf(1)
	}
	return (t.Critical(df) + tQuantile(t.power(), df)) * cv * math.Sqrt(1/float64(m)+1/float64(n))
}

func (t Test) power() float64 {
	if t.Power == 0 {
		return Power
	}
	return t.Power
}
