package stat

import (
	"fmt"
	"math"
)

// MinRuns is the smallest number of runs of an arm that is compared at all.
const MinRuns = 3

// Unpaired compares two independent samples by a t-test: pooled, or Welch's
// when the candidate's variance exceeds the baseline's by more than chance
// explains, s_c²/s_b² > F₀.₉₅(n−1, m−1). A candidate that became noisier must
// not borrow the baseline's small variance. floor stands in for a smaller
// standard deviation; it is Floor for logarithms. Fewer than MinRuns in an arm
// or a value that is not finite is an error.
func Unpaired(base, cand []float64, floor float64) (Estimate, error) {
	if err := usable(base, cand); err != nil {
		return Estimate{}, err
	}
	m, n := len(base), len(cand)
	mb, vb := meanVar(base)
	mc, vc := meanVar(cand)
	if vc > vb*fQuantile(0.95, float64(n-1), float64(m-1)) && vc > floor*floor {
		return welch(mb, vb, mc, vc, m, n, floor), nil
	}
	df := float64(m + n - 2)
	s := floored(math.Sqrt((float64(m-1)*vb+float64(n-1)*vc)/df), floor)
	return Estimate{
		Design: DesignPooled, Diff: mc - mb, DF: df, S: s, M: m, N: n,
		SE: s * math.Sqrt(1/float64(m)+1/float64(n)),
	}, nil
}

func welch(mb, vb, mc, vc float64, m, n int, floor float64) Estimate {
	vb, vc = math.Max(vb, floor*floor), math.Max(vc, floor*floor)
	b, c := vb/float64(m), vc/float64(n)
	return Estimate{
		Design: DesignWelch, Diff: mc - mb, SE: math.Sqrt(b + c), S: math.Sqrt(vc), M: m, N: n,
		// Welch–Satterthwaite.
		DF: (b + c) * (b + c) / (b*b/float64(m-1) + c*c/float64(n-1)),
	}
}

func usable(base, cand []float64) error {
	if len(base) < MinRuns {
		return tooFew("runs of the baseline", len(base), MinRuns)
	}
	if len(cand) < MinRuns {
		return tooFew("runs of the candidate", len(cand), MinRuns)
	}
	for _, x := range base {
		if !finite(x) {
			return fmt.Errorf("stat: a baseline value is %v", x)
		}
	}
	for _, x := range cand {
		if !finite(x) {
			return fmt.Errorf("stat: a candidate value is %v", x)
		}
	}
	return nil
}
