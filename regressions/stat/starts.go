package stat

import (
	"fmt"
	"math"
)

// MinStarts is the number of starts of the baseline from which the start is
// the unit of the test. Below DriftStarts a baseline says nothing of how much
// one start differs from another, and a verdict holds only if they do not.
const (
	MinStarts   = 5
	DriftStarts = 3
)

// Starts compares the mean of the candidate's starts with the mean of the
// baseline's starts. Each inner slice holds the runs of one engine start. The
// spread is that between the baseline's starts, s·√(1/C + 1/B) with B−1
// degrees of freedom: it holds its false-alarm rate however large the effect
// of a start is, where a test over runs gives 15 to 37 % instead of 5 %. A
// candidate start with fewer runs than the baseline's have adds the noise of
// the runs that it lacks. Fewer than three baseline starts or no candidate is
// an error.
func Starts(base, cand [][]float64, floor float64) (Estimate, error) {
	if len(base) < DriftStarts {
		return Estimate{}, tooFew("starts of the baseline", len(base), DriftStarts)
	}
	if len(cand) < 1 {
		return Estimate{}, tooFew("starts of the candidate", 0, 1)
	}
	old, err := groupStarts(base)
	if err != nil {
		return Estimate{}, err
	}
	now, err := groupStarts(cand)
	if err != nil {
		return Estimate{}, err
	}
	b, c := float64(len(base)), float64(len(cand))
	mb, v := meanVar(old.means)
	mc, _ := meanVar(now.means)
	s := floored(math.Sqrt(v), floor)
	lacking := math.Max(0, old.within*(1/now.runs-1/old.runs))
	return Estimate{
		Design: DesignStarts, Diff: mc - mb, DF: b - 1, S: s, M: len(base), N: len(cand),
		SE: math.Sqrt(s*s*(1/b+1/c) + lacking/c),
	}, nil
}

// PairedStarts tests differences of runs that shared their arrivals with the
// start as the unit: each inner slice holds the differences against the runs
// of one start of the baseline, and candidateStarts says over how many starts
// the candidate's runs were spread. The arrivals' luck is gone from the
// differences; what is left between the groups is the effect of a start and
// the noise of the runs. The candidate's starts have effects of their own,
// which no pair shows: their share, 1/C, is what the groups differ by beyond
// the noise of runs, and of that only the lower 80 % bound is taken off, so
// that a difference of exactly the margin passes in at most 5 % of the cases
// for effects of a start from 0 to twice the runs' noise (simulated).
func PairedStarts(diffs [][]float64, candidateStarts int, floor float64) (Estimate, error) {
	if len(diffs) < DriftStarts {
		return Estimate{}, tooFew("starts of the baseline", len(diffs), DriftStarts)
	}
	if candidateStarts < 1 {
		return Estimate{}, tooFew("starts of the candidate", candidateStarts, 1)
	}
	g, err := groupStarts(diffs)
	if err != nil {
		return Estimate{}, err
	}
	b := len(g.means)
	c := min(candidateStarts, b)
	mean, v := meanVar(g.means)
	s := floored(math.Sqrt(v), floor)
	noise := 0.0
	if g.df >= 3 {
		noise = math.Pow(CVLower(math.Sqrt(g.within), g.df, 0.80), 2) / g.runs
	}
	between := math.Max(0, s*s-noise)
	return Estimate{
		Design: DesignPairedStarts, Diff: mean, DF: float64(b - 1), S: s, M: b, N: c,
		SE: math.Sqrt(s*s/float64(b) + between/float64(c)),
	}, nil
}

// groups are starts summarised: the mean of each, the variance of runs within
// a start (0 when no start has two) with its degrees of freedom, and the
// harmonic mean of runs a start.
type groups struct {
	means            []float64
	within, df, runs float64
}

func groupStarts(starts [][]float64) (groups, error) {
	var g groups
	var ss, inverse float64
	for _, xs := range starts {
		if len(xs) == 0 || !finite(xs...) {
			return groups{}, fmt.Errorf("stat: a start has no runs or a value that is not finite: %v", xs)
		}
		m, v := meanVar(xs)
		g.means = append(g.means, m)
		inverse += 1 / float64(len(xs))
		if len(xs) > 1 {
			ss += v * float64(len(xs)-1)
			g.df += float64(len(xs) - 1)
		}
	}
	if g.df > 0 {
		g.within = ss / g.df
	}
	g.runs = float64(len(starts)) / inverse
	return g, nil
}
