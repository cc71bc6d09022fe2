package regressions

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/openloop-go/openloop/regressions/stat"
)

// stale is the age from which a baseline is said to be old.
const stale = 90 * 24 * time.Hour

// invalid makes the verdict a refusal.
func (v Verdict) invalid(no *refusal) Verdict {
	v.Status, v.Reason, v.Remedy = Invalid, no.reason, no.remedy
	return v
}

// word puts a concluded verdict into words.
func (v *Verdict) word(j judging) {
	f := v.Findings[v.headline]
	v.Reason = f.sentence(v.Status)
	v.design = f.Design + j.drift(f)
	v.control = j.controlMoved(f)
	v.candidate.remark = j.arrivals()
	if f.Status == Invalid {
		v.Reason = fmt.Sprintf("suspicious: %s %s is an improvement of more than %s", f.Metric, f.moved(), percent(suspicious))
	}
	v.Remedy = j.remedy(v.Status)
	if v.Status == Inconclusive {
		v.Remedy = f.needs(*v, j)
	}
	if (v.Status == Regressed || v.Status == Improved) && j.next > 0 {
		v.notes = append(v.notes, fmt.Sprintf("stopped at %d of at most %d runs: an estimate after an early stop leans away from zero", j.n, j.last()))
	}
	if v.Status == Inconclusive && v.NextLook == 0 && j.next > 0 {
		v.notes = append(v.notes, fmt.Sprintf("stopped at %d runs: at this noise not even the last look, at %d, can be expected to tell", j.n, j.last()))
	}
	v.remark(j)
}

// remedy is what to do about a verdict that is not inconclusive.
func (j judging) remedy(status Status) string {
	update := j.cand.accept()
	switch {
	case j.old.control():
		return j.besideControl(status)
	case status == Regressed && j.relative:
		return "look into the build, since the control beside it rules the machine out; if the change is meant, accept it: " + update
	case status == Regressed:
		return "measure the old build in turns with this one (benchtest.MeasureBoth), which rules the machine out; if the change is meant, accept it: " + update
	case status == Invalid:
		return "find out what is no longer done or measured; if it is real, accept it: " + update
	case status == Improved:
		return "accept it, so that losing it again is noticed: " + update
	}
	return ""
}

// sentence says what and by how much.
func (f Finding) sentence(status Status) string {
	moved := f.delta(f.Change)
	if status == Pass || status == Inconclusive {
		moved = f.moved()
	}
	s := fmt.Sprintf("%s %s (margin %s), 95 %% interval %s … %s",
		f.Metric, moved, f.size(f.Margin), f.delta(f.Low), f.delta(f.High))
	if f.Role == Guard {
		s = fmt.Sprintf("%s %s → %s (%s, margin %s)", f.Metric, percent(f.Baseline.Mean), percent(f.Candidate.Mean), f.delta(f.Change), f.size(f.Margin))
	}
	return s
}

// needs says what would decide an inconclusive finding.
func (f Finding) needs(v Verdict, j judging) string {
	var s string
	switch n := f.Needed; {
	case f.plan.starts:
		s = fmt.Sprintf("runs of more starts of the engine, here or in %s: starts differ by %s, and that hides a margin of %s", j.old, tenths(f.plan.s), f.size(f.Margin))
	case f.worsens():
		s = fmt.Sprintf("%s would show it, if it stays as large", n)
	case v.NextLook == 0 && f.Resolvable > f.Margin:
		s = fmt.Sprintf("a margin of at least %s, which is what %d runs resolve at a variation of %s, or more runs: %s", f.rough(f.Resolvable), j.last(), f.rough(f.plan.s), n)
	case n.Never:
		s = "a margin further from the change: no number of runs tells them apart"
	default:
		s = fmt.Sprintf("%s would show that it is within the margin", n)
	}
	switch {
	case v.NextLook >= pairsWanted && f.plan.later:
		return fmt.Sprintf("the next look is at %d runs, and those are paired by their arrivals", v.NextLook)
	case v.NextLook > 0:
		return fmt.Sprintf("the next look is at %d runs (%s)", v.NextLook, s)
	}
	return s
}

// drift is the condition under which a verdict holds that does not have the
// start as its unit.
func (j judging) drift(f Finding) string {
	if f.plan.starts || j.old.control() {
		return ""
	}
	n := j.base.starts()
	measured := "not measured"
	if n >= stat.DriftStarts {
		measured = "not in it"
	}
	return fmt.Sprintf("; conditional on no drift between starts, which is %s (the baseline has %s of %d needed)", measured, plural(n, "start"), stat.MinStarts)
}

// arrivals says how the candidate's arrivals stand to the baseline's.
func (j judging) arrivals() string {
	pairs, _ := pair(marks(j.base), marks(j.cand), j.old)
	switch n := len(indices(marks(j.cand))); len(pairs) {
	case 0:
		return "other arrivals"
	case n:
		return "same arrivals"
	default:
		return fmt.Sprintf("same arrivals in %d of %d", len(pairs), n)
	}
}

// marks are the runs without values, to be paired.
func marks(a Arm) []sample {
	var out []sample
	for _, r := range a.Runs {
		out = append(out, sample{index: r.Index, seed: r.Seed, start: r.start()})
	}
	return out
}

// remark adds what a reader should know beside the verdict.
func (v *Verdict) remark(j judging) {
	var worse, watched []string
	for _, f := range v.Findings {
		switch {
		case f.Status == Pass && f.Role != Guard && f.Slower <= j.worse:
			worse = append(worse, f.Metric)
		case f.Status == Inconclusive && f.Role == Watched && v.Status.Green():
			text := fmt.Sprintf("%s (margin %s)", f.Metric, f.size(f.Margin))
			if f.Resolvable > 0 {
				text = fmt.Sprintf("%s, of which %d runs resolve %s where its margin is %s", f.Metric, j.last(), f.rough(f.Resolvable), f.size(f.Margin))
			}
			watched = append(watched, text)
		}
	}
	if worse != nil {
		v.notes = append(v.notes, strings.Join(worse, ", ")+": worse beyond chance, within the margin")
	}
	if watched != nil {
		v.notes = append(v.notes, "watched and undecided at this noise: "+strings.Join(watched, "; "))
	}
	if unseen := j.unseen(); v.Status.Green() && unseen != nil {
		v.notes = append(v.notes, "not counted in every run of both arms, so not checked: "+strings.Join(unseen, ", "))
	}
	gated, _ := j.gate.gated()
	for _, m := range gated {
		if j.cand.has(m.Name) && !j.base.has(m.Name) {
			v.notes = append(v.notes, m.Name+" is not gated: the baseline does not have it")
		}
		if why := j.incomparable(m.Name); why != "" && j.base.has(m.Name) && j.cand.has(m.Name) {
			v.notes = append(v.notes, why)
		}
	}
	if age := j.age(v.baseline.recorded); age > stale {
		v.notes = append(v.notes, fmt.Sprintf("the baseline is %.0f days old", math.Floor(age.Hours()/24)))
	}
}

// unseen is what the runs do not tell of the work that was done.
func (j judging) unseen() []string {
	var out []string
	for _, w := range []struct{ metric, is string }{
		{lengths[0], "that outputs are as long as before"}, {cachedShare, "that the cache was no warmer"},
	} {
		if !j.base.all(w.metric) || !j.cand.all(w.metric) {
			out = append(out, w.is)
		}
	}
	return out
}

// age is how much older the baseline is than the candidate; 0 when either is
// not dated by a real clock.
func (j judging) age(recorded time.Time) time.Duration {
	if j.base.Virtual || recorded.IsZero() {
		return 0
	}
	var last time.Time
	for _, r := range j.cand.Runs {
		if r.Time.After(last) {
			last = r.Time
		}
	}
	return last.Sub(recorded)
}
