package arrival

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Ramp is a Poisson process whose rate changes in a straight line, and then
// stays.
type Ramp struct {
	// From and To are rates in arrivals a second. From may be zero; To must
	// be positive, because the process continues at it.
	From, To float64
	// Over is how long the change takes; it must be positive.
	Over time.Duration
}

// Times yields the schedule of a seed.
func (p Ramp) Times(seed uint64) iter.Seq[time.Duration] {
	return varyingRate(p, p.profile, seed)
}

// MeanRate is the expected number of arrivals from zero to over, divided by
// over; at zero it is From.
func (p Ramp) MeanRate(over time.Duration) float64 { return p.profile().mean(over) }

// Validate reports everything that is out of range.
func (p Ramp) Validate() error {
	var from, over error
	if p.From != 0 {
		from = checkRate("Ramp.From", p.From)
	}
	if p.Over <= 0 {
		over = fmt.Errorf("arrival: Ramp.Over must be positive, got %v: set how long the change takes", p.Over)
	}
	return errors.Join(from, checkRate("Ramp.To", p.To), over)
}

// String is, for example, "ramp 2/s to 8/s over 30s".
func (p Ramp) String() string {
	return fmt.Sprintf("ramp %s/s to %s/s over %v", number(p.From), number(p.To), p.Over)
}

func (p Ramp) profile() profile {
	return newProfile([]piece{{from: p.From, to: p.To, length: p.Over}, {from: p.To, to: p.To}})
}

// Steps is a Poisson process with a piecewise constant rate.
type Steps []Step

// Step is one rate of Steps and how long it lasts.
type Step struct {
	// Rate is in arrivals a second. Zero is a pause; the last step's must be
	// positive, because it continues for ever.
	Rate float64
	// For is how long the step lasts; it must be positive, except the last
	// step's, which is not used and may be zero.
	For time.Duration
}

// Times yields the schedule of a seed.
func (s Steps) Times(seed uint64) iter.Seq[time.Duration] {
	return varyingRate(s, s.profile, seed)
}

// MeanRate is the expected number of arrivals from zero to over, divided by
// over; at zero it is the first step's rate.
func (s Steps) MeanRate(over time.Duration) float64 { return s.profile().mean(over) }

// Validate reports everything that is out of range.
func (s Steps) Validate() error {
	if len(s) == 0 {
		return errors.New("arrival: Steps has no step: set at least one, as in {Rate: 4}")
	}
	var errs []error
	for i, step := range s {
		last := i == len(s)-1
		if step.Rate != 0 || last {
			errs = append(errs, checkRate(fmt.Sprintf("Steps[%d].Rate", i), step.Rate))
		}
		if step.For < 0 || step.For == 0 && !last {
			errs = append(errs, fmt.Errorf("arrival: Steps[%d].For must be positive, got %v: set how long the step lasts", i, step.For))
		}
	}
	return errors.Join(errs...)
}

// String is, for example, "steps 4/s for 30s, 8/s for 10s, then 2/s".
func (s Steps) String() string {
	var b strings.Builder
	b.WriteString("steps ")
	for i, step := range s {
		if i == len(s)-1 {
			if i > 0 {
				b.WriteString("then ")
			}
			fmt.Fprintf(&b, "%s/s", number(step.Rate))
			break
		}
		fmt.Fprintf(&b, "%s/s for %v, ", number(step.Rate), step.For)
	}
	return b.String()
}

func (s Steps) profile() profile {
	pieces := make([]piece, len(s))
	for i, step := range s {
		pieces[i] = piece{from: step.Rate, to: step.Rate, length: step.For}
	}
	return newProfile(pieces)
}

// varyingRate is the Poisson process of a varying rate, by transformation of
// time: where Λ(t) = ∫₀ᵗ λ is the expected number of arrivals by t, the times
// Λ⁻¹(u) of a Poisson process u of rate 1 are one of rate λ.
func varyingRate(p Process, rate func() profile, seed uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		if Validate(p) != nil {
			return
		}
		rate := rate()
		var n count
		var last time.Duration
		for r := generator(seed); ; {
			n = n.add(newCount(r.ExpFloat64()))
			t, ok := rate.inverse(n)
			last = max(last, t)
			if !ok || !yield(last) {
				return
			}
		}
	}
}
