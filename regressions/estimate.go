package regressions

import (
	"fmt"
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// pairsWanted is the number of pairs from which runs are paired: with five,
// pairing breaks even at a correlation of 0.28.
const pairsWanted = 5

// shareFloor stands in for a smaller standard deviation of a rate or a share
// between runs: a tenth of a percentage point.
const shareFloor = 0.001

// plan is what the planner needs to know of the design that was used.
type plan struct {
	layout stat.Layout
	m      int
	// s is the standard deviation of one run.
	s float64
	// starts is true when the start is the unit, of which s is then the spread.
	starts bool
	// later is true when further runs can be paired by their arrivals, with
	// less noise than s.
	later bool
}

// comparison is one metric of both arms on the scale of the test.
type comparison struct {
	estimate stat.Estimate
	// matched is the difference of the runs with the same arrivals where the
	// estimate is unpaired and must agree with it; NaN else.
	matched float64
	design  string
	plan    plan
	// base and cand are the raw values that were compared.
	base, cand []float64
}

// sample is one run's value.
type sample struct {
	index int
	seed  uint64
	start string
	// raw is the value, x its place on the scale of the test.
	raw, x float64
}

// scaled puts a value on the scale of the test: the logarithm of a ratio or
// the value itself, in its unit, turned so that larger is worse.
func scaled(def metric.Def, raw, unit float64) float64 {
	x := raw / unit
	if def.Scale == metric.Ratio {
		x = math.Log(raw)
	}
	if def.Better == metric.Higher {
		x = -x
	}
	return x
}

// samples takes the metric from every run; it fails with the reason when a
// run does not have a valid value.
func samples(arm Arm, def metric.Def, unit float64) ([]sample, error) {
	var out []sample
	for _, r := range arm.Runs {
		v, ok := r.Values[def.Name]
		switch {
		case !ok:
			why := r.Missing[def.Name]
			if why == "" {
				why = "not recorded"
			}
			return nil, fmt.Errorf("run %d has no %s: %s", r.Index, def.Name, why)
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, fmt.Errorf("run %d has no valid %s: it is %v", r.Index, def.Name, v)
		case def.Scale == metric.Ratio && v <= 0:
			return nil, fmt.Errorf("run %d has no valid %s: it is %v, must be positive", r.Index, def.Name, v)
		}
		if err := validValue(def.Name, v); err != nil {
			return nil, fmt.Errorf("run %d has no valid value: %w", r.Index, err)
		}
		out = append(out, sample{r.Index, r.Seed, r.start(), v, scaled(def, v, unit)})
	}
	return out, nil
}

// compare estimates the difference by the strongest design that the numbers
// of runs, starts and common arrivals allow.
func compare(def metric.Def, base, cand []sample, old against) (comparison, error) {
	floor := floorOf(def)
	pairs, why := pair(base, cand, old)
	if replayed, ok := replays(base, cand, pairs); ok {
		return replayedStarts(replayed, cand, floor)
	}
	if why != "" && len(pairs) < pairsWanted {
		pairs = nil // too few to pair, and no check on the others
	}
	starts, candStarts := byStart(base), byStart(cand)
	covered := coveredStarts(pairs)
	switch {
	case len(starts) >= stat.MinStarts && len(covered) >= stat.MinStarts:
		return pairedStarts(pairs, covered, len(candStarts), floor)
	case len(starts) >= stat.MinStarts:
		return unpairedStarts(base, cand, starts, candStarts, pairs, why, floor)
	case len(pairs) >= pairsWanted:
		return paired(pairs, why, floor)
	}
	return unpaired(base, cand, pairs, why, floor)
}

func unpaired(base, cand []sample, pairs []pairing, why string, floor float64) (comparison, error) {
	e, err := stat.Unpaired(xs(base), xs(cand), floor)
	if err != nil {
		return comparison{}, err
	}
	c := comparison{
		estimate: e, matched: meanDiff(pairs),
		base: raws(base), cand: raws(cand),
		plan: plan{layout: stat.Stored, m: len(base), s: e.S, later: len(pairs) > 0},
	}
	c.design = "unpaired, since " + why
	if len(pairs) > 0 {
		c.design = fmt.Sprintf("unpaired, checked against the %d runs with the same arrivals (paired from %d on)", len(pairs), pairsWanted)
	}
	if e.Design == stat.DesignWelch {
		c.design += "; the candidate is noisier than the baseline, so each has its own variance"
	}
	return c, nil
}

func paired(pairs []pairing, why string, floor float64) (comparison, error) {
	e, err := stat.Paired(diffs(pairs), floor)
	if err != nil {
		return comparison{}, err
	}
	c := comparison{
		estimate: e, matched: math.NaN(), plan: plan{layout: stat.Replayed, s: e.S},
		design: fmt.Sprintf("%d pairs of runs with the same arrivals", len(pairs)),
	}
	if why != "" {
		c.design += ", those without left out: " + why
	}
	c.base, c.cand = pairRaws(pairs)
	return c, nil
}

func unpairedStarts(base, cand []sample, starts, candStarts [][]float64, pairs []pairing, why string, floor float64) (comparison, error) {
	e, err := stat.Starts(starts, candStarts, floor)
	if err != nil {
		return comparison{}, err
	}
	if len(pairs) > 0 {
		why = fmt.Sprintf("unpaired, since pairs reach %d of the baseline's starts and %d are needed; checked against the runs with the same arrivals", len(coveredStarts(pairs)), stat.MinStarts)
	} else {
		why = "unpaired, since " + why
	}
	return comparison{
		estimate: e, matched: meanDiff(pairs),
		base: raws(base), cand: raws(cand),
		plan:   plan{s: e.S, starts: true},
		design: fmt.Sprintf("the engine start is the unit (%d of the baseline, %d here), %s", len(starts), len(candStarts), why),
	}, nil
}

// replayedStarts is the best that a stored baseline can offer: every start of
// it replayed the candidate's arrivals, so neither the arrivals' luck nor the
// effect of a start is left out.
func replayedStarts(base, cand []sample, floor float64) (comparison, error) {
	starts, candStarts := byStart(base), byStart(cand)
	e, err := stat.Starts(starts, candStarts, floor)
	if err != nil {
		return comparison{}, err
	}
	return comparison{
		estimate: e, matched: math.NaN(), base: raws(base), cand: raws(cand),
		plan:   plan{s: e.S, starts: true},
		design: fmt.Sprintf("the engine start is the unit (%d of the baseline, %d here), each with the same arrivals", len(starts), len(candStarts)),
	}, nil
}

func pairedStarts(pairs []pairing, covered [][]float64, candStarts int, floor float64) (comparison, error) {
	e, err := stat.PairedStarts(covered, candStarts, floor)
	if err != nil {
		return comparison{}, err
	}
	c := comparison{
		estimate: e, matched: math.NaN(), plan: plan{s: e.S, starts: true},
		design: fmt.Sprintf("the engine start is the unit (%d of the baseline, %d here), over %d pairs of runs with the same arrivals", len(covered), candStarts, len(pairs)),
	}
	c.base, c.cand = pairRaws(pairs)
	return c, nil
}

// decide judges the comparison, and holds an unpaired verdict against the
// runs with the same arrivals.
func (c comparison) decide(rule stat.Rule) stat.Decision {
	d := rule.Decide(c.estimate)
	if math.IsNaN(c.matched) || d == stat.Undecided {
		return d
	}
	same := c.estimate
	same.Diff = c.matched
	switch d {
	case stat.Slower:
		if c.matched < rule.Margin {
			return stat.Undecided
		}
	case stat.Faster:
		if c.matched > -rule.Margin {
			d = stat.Within
		}
	}
	if d != stat.Slower && !(same.AtLeast(rule.Margin) <= rule.Same) {
		return stat.Undecided
	}
	return d
}
