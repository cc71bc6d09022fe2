package regressions

import (
	"fmt"
	"math"
	"slices"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// JudgeBoth takes one look at two builds that were measured in turns, as
// benchtest.MeasureBoth does: the control is the build to compare with. It is
// the strongest design there is, since whatever the machine is today is in
// both arms: each run of the candidate is compared with the control's run of
// the same index and arrivals, and every candidate run must have one.
//
// Where each run had an engine start of its own, or five or more starts of
// both arms went together, a start's luck is part of what varies, and the
// verdict is unconditional. With fewer starts it holds if the starts are
// alike, and where the arms were not made in turns if the machine was; the
// text then says so.
//
// A history of the machine's noise is not drawn on: it would save half a run,
// and breaks the promise on a machine that is noisier today (stat.Prior).
func JudgeBoth(control, candidate Arm, g Gate) Verdict {
	return judge(&Baseline{Arm: control}, candidate, g, g.nextLook(len(candidate.Runs)), against{name: "control", accept: candidate.accept()})
}

// arrange decides how the arms stand to each other, beside what is a matter of
// each metric.
func (j *judging) arrange() *refusal {
	if j.old.control() {
		return j.besides()
	}
	j.relative = j.base.beside() && j.cand.beside()
	if !j.relative {
		return nil
	}
	return frozen(j.base, j.cand)
}

// besides checks that every run has its partner in the control, and whether
// the two were made in turns.
func (j *judging) besides() *refusal {
	if j.base.Name == metric.ArmCandidate || j.cand.Name == metric.ArmControl {
		return refuse("swap them", "the arms are swapped: the candidate's runs say that they are the control's")
	}
	base := j.base
	base.Runs = nil
	for _, r := range j.base.Runs {
		if slices.ContainsFunc(j.cand.Runs, func(c Run) bool { return c.Index == r.Index }) {
			base.Runs = append(base.Runs, r) // one of a pair
		}
	}
	pairs, why := pair(marks(base), marks(j.cand), j.old)
	if why != "" || len(pairs) != len(j.cand.Runs) || len(pairs) != len(base.Runs) {
		if why == "" {
			why = "an index is there more than once"
		}
		return refuse("measure both builds in turns, with the same arrivals", "runs without a partner: %s", why)
	}
	j.base = base
	groups := len(startPairs(pairs, marks(j.cand)))
	j.turns = turns{
		taken:    inTurns(base.Runs, j.cand.Runs),
		own:      base.starts() == len(pairs) && j.cand.starts() == len(pairs),
		together: groups == base.starts() && groups == j.cand.starts() && groups >= stat.MinStarts,
	}
	return nil
}

// sameWork checks that all arms did the same work, the controls too.
func (j judging) sameWork() *refusal {
	if no := sameWork(j.base, j.cand, j.old); no != nil || !j.relative {
		return no
	}
	no := sameWork(j.base.control(), j.cand.control(), j.old)
	if no != nil {
		no.reason = "of the control: " + no.reason
	}
	return no
}

// samples takes the metric from every run, against its control's where that
// is the design.
func (j judging) samples(arm Arm, def metric.Def) ([]sample, error) {
	in := unit(j.base, def)
	out, err := samples(arm, def, in)
	if err != nil || !j.relative {
		return out, err
	}
	controls, err := samples(arm.control(), def, in)
	if err != nil {
		return nil, fmt.Errorf("of the control %w", err)
	}
	return relative(out, controls), nil
}

// compare estimates the difference by the strongest design.
func (j judging) compare(def metric.Def, base, cand []sample) (comparison, error) {
	if j.old.control() {
		return j.compareTurns(base, cand, floorOf(def))
	}
	c, err := compare(def, base, cand, j.old)
	if j.relative {
		c.design = "each run against the control's of the same index, so that what the machine is today is taken off; " + c.design
	} else if why := j.unused(); why != "" {
		c.design += "; " + why
	}
	return c, err
}

// unused says why a control that one side has is not used.
func (j judging) unused() string {
	switch base, cand := j.base.beside(), j.cand.beside(); {
	case cand && !base:
		return "the control here is not used, since the baseline has none: what the machine is today is not taken off"
	case base && !cand:
		return "the control of the baseline is not used, since these runs have none: what the machine is today is not taken off"
	}
	return ""
}

// compareTurns compares runs that are pairs by their index: the pair of engine
// starts is the unit where there are enough, else the pair of runs; and the
// run where there are too few pairs, with the same difference.
func (j judging) compareTurns(base, cand []sample, floor float64) (comparison, error) {
	pairs, _ := pair(base, cand, j.old)
	c := comparison{matched: math.NaN(), base: raws(base), cand: raws(cand)}
	var err error
	var how string
	switch {
	case j.turns.together && !j.turns.own:
		var means []float64
		for _, g := range startPairs(pairs, cand) {
			means = append(means, mean(g))
		}
		c.estimate, err = stat.Paired(means, floor)
		c.plan = plan{s: c.estimate.S, starts: true}
		how = fmt.Sprintf("the pair of engine starts is the unit (%d of each, %d pairs of runs)", len(means), len(pairs))
	case len(pairs) >= pairsWanted:
		c.estimate, err = stat.Paired(diffs(pairs), floor)
		c.plan = plan{layout: stat.Replayed, s: c.estimate.S}
		how = fmt.Sprintf("%d pairs of runs with the same arrivals", len(pairs))
	default:
		c.estimate, err = stat.Unpaired(xs(base), xs(cand), floor)
		c.plan = plan{layout: stat.Interleaved, s: c.estimate.S, later: true}
		how = fmt.Sprintf("%d runs of each with the same arrivals, unpaired (paired from %d on)", len(pairs), pairsWanted)
	}
	if err != nil {
		return comparison{}, err
	}
	c.design = "in turns with the control, so that what the machine is today is in both; " + how
	if !j.turns.taken {
		c.design = "not in turns with the control, so conditional on no drift of the machine between the arms; " + how
	}
	switch {
	case j.turns.own:
		c.design += ", each on an engine start of its own"
	case j.turns.conditional():
		c.design += fmt.Sprintf("; conditional on starts of the engines being alike, which is not measured (%s of the control, %d here: a start for each run measures it)", plural(j.base.starts(), "start"), j.cand.starts())
	}
	return c, nil
}

// startPairs groups the pairs' differences by the start of both arms.
func startPairs(pairs []pairing, cand []sample) [][]float64 {
	return grouped(pairs, func(p pairing) (string, float64) {
		i := slices.IndexFunc(cand, func(s sample) bool { return s.index == p.index })
		return p.start + " " + cand[i].start, p.cand - p.base
	})
}

// besideControl is what to do about a verdict against a control.
func (j judging) besideControl(status Status) string {
	switch {
	case status == Regressed && !j.turns.taken:
		return "measure both builds in turns, to rule the machine out"
	case status == Regressed && j.turns.conditional():
		return "start both builds again, to rule out that it is these starts; the machine is ruled out"
	case status == Regressed:
		return "look into the build: the machine is ruled out, since the control was measured in turns with it"
	case status == Invalid:
		return "find out what is no longer done or measured"
	}
	return ""
}

// builds says how two arms' engines differ, as far as it is recorded.
func builds(control, cand Arm) string {
	if out := changed(control, cand); out != "" {
		return out
	}
	return "alike in all that is recorded of them"
}

// controlMoved says how the control moved since the baseline was recorded, by
// the headline's metric, which has been compared.
func (j judging) controlMoved(f Finding) string {
	if !j.relative {
		return ""
	}
	var sides [2]Summary
	for i, arm := range []Arm{j.base.control(), j.cand.control()} {
		s, err := samples(arm, f.def, 1)
		if err != nil {
			return ""
		}
		sides[i] = summary(f.def, raws(s))
	}
	moved := f
	moved.Baseline, moved.Candidate = sides[0], sides[1]
	moved.Change = sides[1].Mean - sides[0].Mean
	if inPercent(f.def) {
		moved.Change = sides[1].Mean/sides[0].Mean - 1
	}
	return fmt.Sprintf("%s → %s since the baseline, %s: not the build's, and taken off",
		quantity(f.def, sides[0].Mean), quantity(f.def, sides[1].Mean), moved.moved())
}
