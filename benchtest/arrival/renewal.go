package arrival

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"
)

// Poisson is a Poisson process: independent exponential gaps. The first
// arrival is one gap after zero. Schedules of the same seed at other rates
// are the same schedule, stretched.
type Poisson struct {
	// Rate is in arrivals a second; it must be positive.
	Rate float64
}

// Times yields the schedule of a seed.
func (p Poisson) Times(seed uint64) iter.Seq[time.Duration] {
	return renewal(p, p.Rate, seed, (*rand.Rand).ExpFloat64)
}

// MeanRate is Rate.
func (p Poisson) MeanRate(time.Duration) float64 { return p.Rate }

// Validate reports a rate that is not positive or above 1,000,000/s.
func (p Poisson) Validate() error { return checkRate("Poisson.Rate", p.Rate) }

// String is, for example, "poisson 4/s".
func (p Poisson) String() string { return fmt.Sprintf("poisson %s/s", number(p.Rate)) }

// Gamma is a renewal process with gamma-distributed gaps, as vLLM's benchmark
// has it: bursty, Poisson or regular by one number. The first arrival is one
// gap after zero.
type Gamma struct {
	// Rate is in arrivals a second; it must be positive.
	Rate float64
	// Burstiness is the shape of the gaps' distribution, at least 0.01. Their
	// squared coefficient of variation is 1/Burstiness: 1 is Poisson, exactly
	// the schedule that Poisson gives, lower is burstier, higher more regular.
	Burstiness float64
}

// Times yields the schedule of a seed.
func (g Gamma) Times(seed uint64) iter.Seq[time.Duration] {
	gap := gammaGap(g.Burstiness)
	if g.Burstiness == 1 {
		gap = (*rand.Rand).ExpFloat64
	}
	return renewal(g, g.Rate, seed, gap)
}

// MeanRate is Rate. (The mean over a short stretch from zero is larger by
// about (1/Burstiness − 1)/2 arrivals in all, because the process starts with
// an arrival's gap and not in the middle of one.)
func (g Gamma) MeanRate(time.Duration) float64 { return g.Rate }

// Validate reports a rate or a burstiness out of range.
func (g Gamma) Validate() error {
	var bad error
	if !(g.Burstiness >= minBurstiness) || math.IsInf(g.Burstiness, 0) {
		bad = fmt.Errorf("arrival: Gamma.Burstiness must be at least %v and finite, got %s: 1 is Poisson, lower is burstier", minBurstiness, number(g.Burstiness))
	}
	return errors.Join(checkRate("Gamma.Rate", g.Rate), bad)
}

// minBurstiness bounds the squared coefficient of variation of gaps at 100.
const minBurstiness = 0.01

// String is, for example, "gamma 4/s burstiness 0.5".
func (g Gamma) String() string {
	return fmt.Sprintf("gamma %s/s burstiness %s", number(g.Rate), number(g.Burstiness))
}

// renewal is the process whose gaps, in units of the mean gap, come from gap.
func renewal(p Process, rate float64, seed uint64, gap func(*rand.Rand) float64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		if Validate(p) != nil {
			return
		}
		var n count
		var last time.Duration
		for r := generator(seed); ; {
			n = n.add(newCount(gap(r)))
			t, ok := n.at(rate)
			last = max(last, t)
			if !ok || !yield(last) {
				return
			}
		}
	}
}
