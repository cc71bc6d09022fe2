package main

import (
	"math"
	"slices"

	"github.com/openloop-go/openloop/regressions/stat"
)

// remedy is what makes a margin resolvable, each value by itself; zero where
// nothing is needed or no value would do.
type remedy struct {
	Margin number `json:"margin,omitempty"`
	CV     number `json:"cv,omitempty"`
	// Candidate units against Baseline units; Looks are those to set.
	Candidate int   `json:"candidate,omitempty"`
	Baseline  int   `json:"baseline,omitempty"`
	Looks     []int `json:"looks,omitempty"`
}

// mostAdvised is the largest number of runs that is advised: who has more time
// than that has a better use for it.
const mostAdvised = 200

func (m *metricForecast) most() int {
	if m.Unit == "start" {
		return mostStarts
	}
	return mostAdvised
}

// find looks for what would do.
func (m *metricForecast) find(o planOptions, f *forecast) error {
	if up := roundUp(float64(m.SmallestMargin)); up < 1 {
		m.Remedy.Margin = number(up)
	}
	if down := roundDown(float64(m.LargestCV)); down >= stat.Floor {
		m.Remedy.CV = number(down)
	}
	p := m.planner
	if m.Unit == "start" {
		if n := p.ToPass(0); !n.Never && n.Candidate <= mostStarts {
			m.Remedy.Candidate, m.Remedy.Baseline = n.Candidate, n.Baseline
		}
		return nil
	}
	// Another look costs all looks some of their level, so that it may take
	// more runs than the looks of now.
	gate := o.gate
	for looks := f.Looks; ; {
		n := p.ToPass(0)
		last := looks[len(looks)-1]
		if n.Never || max(n.Candidate, last) > mostAdvised {
			return nil
		}
		if n.Candidate <= last && p.Layout == stat.Stored {
			p.Stored = n.Baseline
		}
		if p.Resolvable(last) <= p.Rule.Margin {
			m.Remedy = remedy{Margin: m.Remedy.Margin, CV: m.Remedy.CV, Candidate: last, Baseline: last, Looks: looks}
			if p.Layout == stat.Stored {
				m.Remedy.Baseline = p.Stored
			}
			return nil
		}
		looks = append(slices.Clone(f.Looks), max(n.Candidate, last+1))
		if len(looks) > mostLooks {
			looks = slices.Delete(looks, len(looks)-2, len(looks)-1)
		}
		gate.Looks = looks
		_, same, err := gate.Levels(f.Comparisons)
		if err != nil {
			return err
		}
		p.Rule.Same = same
	}
}

// roundUp and roundDown keep one digit after the point of a percentage, two
// below 1 %, so that what is advised still holds when it is typed.
func roundUp(x float64) float64 {
	step := rounding(x)
	return math.Ceil(x*step-1e-9) / step
}

func roundDown(x float64) float64 {
	step := rounding(x)
	return math.Floor(x*step+1e-9) / step
}

func rounding(x float64) float64 {
	if x < 0.01 {
		return 10_000
	}
	return 1000
}
