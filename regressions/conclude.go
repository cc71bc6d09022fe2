package regressions

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// conclude makes one status of the findings: regressed if any is; else invalid
// if an improvement is too good to be believed; else pass when all that must
// pass do.
func (v *Verdict) conclude(j judging) {
	if i := v.worst(Regressed); i >= 0 {
		v.Status, v.headline = Regressed, i
		return
	}
	if i := v.worst(Invalid); i >= 0 {
		v.Status, v.headline = Invalid, i
		return
	}
	next := j.gate.nextLook(j.n)
	open := slices.DeleteFunc(v.of(Inconclusive), func(i int) bool { return !v.Findings[i].blocks(j, next) })
	if len(open) == 0 {
		v.Status, v.headline = Pass, v.first(Pass)
		if i := v.worst(Improved); i >= 0 {
			v.Status, v.headline = Improved, i
		}
		return
	}
	v.Status, v.headline, v.NextLook = Inconclusive, open[0], next
	if slices.ContainsFunc(open, func(i int) bool { return v.Findings[i].worsens() }) {
		return
	}
	for _, i := range open {
		if f := v.Findings[i]; f.Role == Gated && f.hopeless(j) {
			v.headline, v.NextLook = i, 0
			return
		}
	}
}

// blocks reports whether an undecided finding keeps the verdict from passing.
// A watched one does while it points to a regression, or while a further look
// can be expected to decide it.
func (f Finding) blocks(j judging, next int) bool {
	return f.Role != Watched || f.worsens() || next > 0 && f.resolves(j)
}

// of are the findings with the status.
func (v *Verdict) of(s Status) []int {
	var out []int
	for i, f := range v.Findings {
		if f.Status == s {
			out = append(out, i)
		}
	}
	return out
}

// worst is the finding of that status that moved furthest for its margin; -1
// for none.
func (v *Verdict) worst(s Status) int {
	all := v.of(s)
	if len(all) == 0 {
		return -1
	}
	moved := func(i int) float64 {
		f := v.Findings[i]
		return math.Abs(f.estimate.Diff) / marginOf(f.def, f.Margin)
	}
	return slices.MaxFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(moved(a), moved(b)), cmp.Compare(b, a))
	})
}

// first is the first gated finding with that status, else the first of all.
func (v *Verdict) first(s Status) int {
	for i, f := range v.Findings {
		if f.Status == s && f.Role == Gated {
			return i
		}
	}
	return 0
}

// moved are metrics that decide nothing and changed by at least the gate's
// margin, significantly: what else there is to see, at most four.
func (j judging) moved(findings []Finding) []Finding {
	var out []Finding
	for _, name := range metric.Names() {
		def := metricDef(name)
		known := slices.ContainsFunc(findings, func(f Finding) bool { return f.Metric == name })
		if known || def.Better == metric.Same || def.Scale != metric.Ratio || !j.base.has(name) || !j.cand.has(name) {
			continue
		}
		f, err := j.find(Metric{Name: name, Margin: j.gate.margin()})
		if err != nil {
			continue
		}
		shown := math.Min(f.Slower, 1-f.Slower) <= j.worse
		if shown && math.Abs(f.Change) >= f.Margin && !echo(name) {
			f.Role, f.Status = Reported, ""
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Compare(math.Abs(b.estimate.Diff), math.Abs(a.estimate.Diff))
	})
	return out[:min(len(out), 4)]
}

// echo tells metrics that repeat what is gated or what was offered.
func echo(name string) bool {
	return strings.HasPrefix(name, "mean-") || strings.Contains(name, "service-ttft") || strings.HasPrefix(name, "prompt-tok") || strings.HasPrefix(name, "total-tok")
}
