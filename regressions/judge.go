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
	v := Verdict{headline: -1}
	if err := g.Validate(); err != nil {
		return v.invalid(refuse("mend the gate", "%v", err))
	}
	v.describe(base, candidate)
	if no := comparable(base, candidate); no != nil {
		return v.invalid(no)
	}
	if n := len(candidate.Runs); n < stat.MinRuns {
		v.NextLook = g.nextLook(n)
		return v.invalid(refuse(fmt.Sprintf("make %d runs or more", g.looks()[0]), "%s, at least %d are needed: one run has no spread, and two next to none", plural(n, "run"), stat.MinRuns))
	}
	metrics, optional := g.gated()
	var chosen []Metric
	for _, m := range metrics {
		skip, no := present(base.Arm, candidate, m.Name, optional)
		if no != nil {
			return v.invalid(no)
		}
		if !skip {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return v.invalid(refuse("gate a metric that both arms have", "nothing to compare: neither arm has a gated metric"))
	}
	j := judging{base: base.Arm, cand: candidate, gate: g, n: len(candidate.Runs)}
	guarded, no := j.guards(chosen)
	if no != nil {
		return v.invalid(no)
	}
	v.Comparisons = (len(chosen) + len(guarded)) * max(g.Gates, 1)
	v.FalseAlarms = g.falseAlarms()
	worse, same, err := g.levels(v.Comparisons)
	if err != nil {
		return v.invalid(refuse("mend the gate", "%v", err))
	}
	v.Level, j.worse, j.same = worse, worse, same
	for _, m := range append(chosen, guarded...) {
		f, err := j.find(m)
		if err != nil {
			return v.invalid(refuse("nothing was compared; make a valid run", "no valid value: %v", err))
		}
		v.Findings = append(v.Findings, f)
	}
	if no := sameWork(base.Arm, candidate); no != nil {
		return v.invalid(no)
	}
	v.conclude(j)
	v.Findings = append(v.Findings, j.moved(v.Findings)...)
	v.word(j)
	return v
}

// Compare judges one stored baseline against another: new as if its runs were
// the candidate's. The verdict is final, since no more runs can be made.
func Compare(old, new *Baseline, g Gate) Verdict {
	if new == nil {
		return Judge(old, Arm{}, g)
	}
	v := Judge(old, new.Arm, g)
	v.NextLook = 0
	v.candidate.recorded, v.candidate.commit = new.Recorded, new.Commit
	return v
}

// judging is one call of Judge.
type judging struct {
	base, cand  Arm
	gate        Gate
	n           int
	worse, same float64
}

// guards is the error rate, unless it is gated by name or no arm has it.
func (j judging) guards(chosen []Metric) ([]Metric, *refusal) {
	for _, m := range chosen {
		if m.Name == errorRate {
			return nil, nil
		}
	}
	skip, no := present(j.base, j.cand, errorRate, true)
	if skip || no != nil {
		return nil, no
	}
	return []Metric{{Name: errorRate, Margin: errorMargin}}, nil
}

// find judges one metric.
func (j judging) find(m Metric) (Finding, error) {
	def := metricDef(m.Name)
	base, err := samples(j.base, def)
	if err != nil {
		return Finding{}, fmt.Errorf("in the baseline %w", err)
	}
	cand, err := samples(j.cand, def)
	if err != nil {
		return Finding{}, err
	}
	c, err := compare(def, base, cand)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{
		Metric: m.Name, Role: j.role(m), Margin: m.Margin, Design: c.design,
		estimate: c.estimate, def: def, plan: c.plan,
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
	case f.def.Scale == metric.Ratio && f.estimate.Diff < 0 && math.Abs(f.Change) > suspicious:
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
