package regressions

import (
	"fmt"
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// errorRate is the metric that is guarded always.
const errorRate = "error-rate"

// suspicious is the improvement above which a measurement is not believed.
const suspicious = 0.50

// Judge takes one look at the candidate runs that there are. A verdict with a
// NextLook is not final: judge again when there are that many runs. Judge
// neither waits nor measures, and gives the same verdict for the same runs.
func Judge(base *Baseline, candidate Arm, g Gate) Verdict {
	return judge(base, candidate, g, g.nextLook(len(candidate.Runs)), against{"baseline", candidate.accept()})
}

// Compare judges one stored baseline against another: new as if its runs were
// the candidate's. The verdict is final, since no more runs can be made.
func Compare(old, new *Baseline, g Gate) Verdict {
	if new == nil {
		new = &Baseline{}
	}
	v := judge(old, new.Arm, g, 0, against{"baseline", new.accept()})
	v.candidate.recorded, v.candidate.commit, v.candidate.virtual = new.Recorded, new.Commit, new.Virtual
	return v
}

// judge takes one look; next is where the following one would be, 0 for none.
func judge(base *Baseline, cand Arm, g Gate, next int, old against) Verdict {
	v := Verdict{headline: -1, old: old}
	if err := g.Validate(); err != nil {
		return v.invalid(refuse("mend the gate", "%v", err))
	}
	v.describe(base, cand)
	if no := conditions(base, cand, old); no != nil {
		return v.invalid(no)
	}
	if no := g.blind(cand.Point); no != nil {
		return v.invalid(no)
	}
	if n := len(cand.Runs); n < stat.MinRuns {
		v.NextLook = next
		return v.invalid(refuse(fmt.Sprintf("make %d runs or more", g.looks()[0]), "%s, at least %d are needed: one run has no spread, and two next to none", plural(n, "run"), stat.MinRuns))
	}
	j := judging{base: base.Arm, cand: cand, gate: g, old: old, n: len(cand.Runs), next: next}
	if no := j.arrange(); no != nil {
		return v.invalid(no)
	}
	metrics, no := j.choose()
	if no != nil {
		return v.invalid(no)
	}
	v.Comparisons, v.FalseAlarms = len(metrics)*max(g.Gates, 1), g.falseAlarms()
	var err error
	if j.worse, j.same, err = g.levels(v.Comparisons); err != nil {
		return v.invalid(refuse("mend the gate", "%v", err))
	}
	v.Level = j.worse
	for _, m := range metrics {
		f, err := j.find(m)
		if err != nil {
			return v.invalid(refuse("nothing was compared; make a valid run", "no valid value: %v", err))
		}
		v.Findings = append(v.Findings, f)
	}
	if no := j.sameWork(); no != nil {
		return v.invalid(no)
	}
	v.conclude(j)
	v.Findings = append(v.Findings, j.moved(v.Findings)...)
	v.word(j)
	return v
}

// judging is one call of judge: n runs of the candidate, the next look, and
// the nominal levels.
type judging struct {
	base, cand  Arm
	gate        Gate
	old         against
	n, next     int
	worse, same float64
	// relative is true when each run is taken against its control's.
	relative bool
	// turns is how the candidate's runs stand to the control's where that is
	// what is compared with.
	turns turns
}

// last is the number of candidate runs at the last look there will be.
func (j judging) last() int {
	if j.next == 0 {
		return j.n
	}
	return j.gate.lastLook()
}

// choose are the metrics to compare: those gated that the arms have, and the
// error rate, which is guarded unless it is gated by name or no arm has it.
func (j judging) choose() ([]Metric, *refusal) {
	gated, optional := j.gate.gated()
	var out []Metric
	required, errors := false, false
	for _, m := range gated {
		skip, no := present(j.base, j.cand, m.Name, optional, j.old)
		if no != nil {
			return nil, no
		}
		if why := j.incomparable(m.Name); why != "" && !skip {
			if !optional || !m.Watch {
				return nil, refuse(j.old.renew("have the server send events as before, gate TPOT, or accept the new ones: "), "%s", why)
			}
			skip = true // the notes say so
		}
		if !skip {
			if no := j.objective(m); no != nil {
				return nil, no
			}
			out = append(out, m)
			required = required || !m.Watch
			errors = errors || m.Name == errorRate
		}
	}
	if len(out) == 0 {
		return nil, refuse("gate a metric that both arms have", "nothing to compare: the arms have no gated metric in common")
	}
	if !required {
		// Where nothing else is there, what is watched must pass.
		for i := range out {
			out[i].Watch = false
		}
	}
	if errors {
		return out, nil
	}
	skip, no := present(j.base, j.cand, errorRate, true, j.old)
	if now, ok := armMean(j.cand, errorRate); skip && ok && !(now <= errorMargin) {
		return nil, refuse(j.old.renew("update the baseline: "), "%s failed, and %s does not say how many did there", percent(now), j.old)
	}
	if skip || no != nil {
		return out, no
	}
	return append(out, Metric{Name: errorRate, Margin: errorMargin}), nil
}

// find judges one metric.
func (j judging) find(m Metric) (Finding, error) {
	def := metricDef(m.Name)
	base, err := j.samples(j.base, def)
	if err != nil {
		return Finding{}, fmt.Errorf("in %s %w", j.old, err)
	}
	cand, err := j.samples(j.cand, def)
	if err != nil {
		return Finding{}, err
	}
	c, err := j.compare(def, base, cand)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{
		Metric: m.Name, Role: j.role(m), Margin: m.Margin, Design: c.design,
		estimate: c.estimate, matched: c.matched, def: def, plan: c.plan,
		Baseline: summary(def, c.base), Candidate: summary(def, c.cand),
	}
	margin := marginOf(def, m.Margin)
	f.measure(margin, j.worse)
	d := c.decide(stat.Rule{Margin: margin, Worse: j.worse, Same: j.same})
	f.Status = j.status(f, d, margin)
	f.plans(j, margin)
	return f, nil
}

func (j judging) role(m Metric) Role {
	if m.Watch {
		return Watched
	}
	for _, chosen := range j.gate.Metrics {
		if chosen.Name == m.Name {
			return Gated
		}
	}
	if m.Name == errorRate {
		return Guard
	}
	return Gated
}

func (j judging) status(f Finding, d stat.Decision, margin float64) Status {
	switch {
	case d == stat.Slower:
		return Regressed
	case f.Role == Guard && f.estimate.Diff < margin:
		return Pass
	case inPercent(f.def) && f.estimate.AtLeast(0) <= j.worse && math.Abs(f.Change) > suspicious:
		return Invalid
	case d == stat.Faster:
		return Improved
	case d == stat.Within:
		return Pass
	}
	return Inconclusive
}

// marginOf is the margin on the scale of the test. A tolerated loss of 5 % is
// a ratio of 1.05 for what gets better downwards and of 0.95 for the rest.
func marginOf(def metric.Def, margin float64) float64 {
	switch {
	case def.Scale == metric.Difference:
		return margin
	case def.Better == metric.Higher:
		return -math.Log1p(-math.Min(margin, 0.99))
	}
	return math.Log1p(margin)
}
