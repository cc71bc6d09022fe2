package arrival

import (
	"math"
	"math/rand/v2"
)

// gammaGap draws gamma variates of the given shape and mean 1, by Marsaglia
// and Tsang, "A simple method for generating gamma variables", ACM
// Transactions on Mathematical Software 26 (2000) 363–372; a shape below 1 by
// their U^(1/shape) step from shape + 1.
//
// The conversions to float64 around products keep compilers from fusing them
// with a sum, so that all architectures draw the same numbers.
func gammaGap(shape float64) func(*rand.Rand) float64 {
	boosted := shape
	if shape < 1 {
		boosted++
	}
	d := boosted - 1.0/3
	c := 1 / math.Sqrt(float64(9*d))
	return func(r *rand.Rand) float64 {
		x := marsagliaTsang(r, d, c)
		if shape < 1 {
			x *= math.Pow(1-r.Float64(), 1/shape)
		}
		return x / shape
	}
}

func marsagliaTsang(r *rand.Rand, d, c float64) float64 {
	for {
		x := r.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - r.Float64() // in (0, 1]
		x2 := x * x
		if u < 1-float64(0.0331*x2*x2) ||
			math.Log(u) < float64(0.5*x2)+float64(d*(1-v+math.Log(v))) {
			return d * v
		}
	}
}
