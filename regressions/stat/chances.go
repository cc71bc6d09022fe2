package stat

import (
	"fmt"
	"math/rand/v2"
)

// Chances is what becomes of a gate, as shares of many simulated ones.
type Chances struct {
	// Slower and Within are the shares that were decided so at each look or
	// before it; what is missing to 1 at the last one is undecided.
	Slower, Within []float64
	// Runs is the mean number of candidate runs until the decision.
	Runs float64
	// Paths is the number of gates that were simulated.
	Paths int
}

// Chances simulates gates whose true difference is diff, with the tests that
// the gate uses: unpaired, Welch's when the candidate happens to be noisier,
// paired from MinPairs runs on where arrivals are replayed. Runs are normal
// and independent. The same seed gives the same shares. A share p of n paths
// has a standard error of √(p(1−p)/n). For ByStart the looks count candidate
// starts. Invalid looks, paths or S are an error.
func (p Planner) Chances(looks []int, diff float64, paths int, seed uint64) (Chances, error) {
	if err := p.simulable(looks, paths); err != nil {
		return Chances{}, err
	}
	c := Chances{Slower: make([]float64, len(looks)), Within: make([]float64, len(looks)), Paths: paths}
	r := rand.New(rand.NewPCG(seed, 17))
	gate := p.arms(looks[len(looks)-1])
	each := 1 / float64(paths)
	for range paths {
		gate.draw(r, p.S, diff)
		runs := 0
		for i, n := range looks {
			runs = n
			e, err := gate.estimate(n)
			if err != nil {
				return Chances{}, err
			}
			decision := p.Rule.Decide(e)
			if decision == Undecided {
				continue
			}
			shares := c.Within
			if decision == Slower {
				shares = c.Slower
			}
			for j := i; j < len(looks); j++ {
				shares[j] += each
			}
			break
		}
		c.Runs += float64(runs) * each
	}
	return c, nil
}

func (p Planner) simulable(looks []int, paths int) error {
	least := MinRuns
	if p.Layout == ByStart {
		least = 1
	}
	for i, n := range looks {
		if n < least || i > 0 && n <= looks[i-1] {
			return fmt.Errorf("stat: looks %v must increase from %d or more", looks, least)
		}
	}
	switch {
	case len(looks) == 0:
		return fmt.Errorf("stat: looks: none given, need at least one")
	case paths < 1:
		return fmt.Errorf("stat: paths must be positive, got %d", paths)
	case !finite(p.S) || !(p.S > 0):
		return fmt.Errorf("stat: S must be positive, got %v", p.S)
	}
	return nil
}

// simulated arms of one gate, reused from path to path.
type arms struct {
	layout     Layout
	base, cand []float64
	diffs      []float64
}

func (p Planner) arms(most int) *arms {
	m := most
	if p.Layout.fixed() {
		m = p.Stored
	}
	return &arms{layout: p.Layout, base: make([]float64, m), cand: make([]float64, most), diffs: make([]float64, most)}
}

func (a *arms) draw(r *rand.Rand, s, diff float64) {
	for i := range a.base {
		a.base[i] = s * r.NormFloat64()
	}
	for i := range a.cand {
		a.cand[i] = diff + s*r.NormFloat64()
		if a.layout == Replayed {
			a.diffs[i] = a.cand[i] - a.base[i]
		}
	}
}

// estimate is what a look of n candidate runs sees.
func (a *arms) estimate(n int) (Estimate, error) {
	switch {
	case a.layout == ByStart:
		return Starts(singles(a.base), singles(a.cand[:n]), Floor)
	case a.layout == Replayed && n >= MinPairs:
		return Paired(a.diffs[:n], Floor)
	case a.layout == Stored:
		return Unpaired(a.base, a.cand[:n], Floor)
	}
	return Unpaired(a.base[:n], a.cand[:n], Floor)
}

// singles are starts known by their mean alone.
func singles(xs []float64) [][]float64 {
	out := make([][]float64, len(xs))
	for i := range xs {
		out[i] = xs[i : i+1]
	}
	return out
}
