package regressions

import (
	"cmp"
	"math"
	"slices"
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
	open := slices.DeleteFunc(v.of(Inconclusive), func(i int) bool { return !v.Findings[i].blocks(j) })
	if len(open) == 0 {
		v.Status, v.headline = Pass, v.first(Pass)
		if i := v.worst(Improved); i >= 0 {
			v.Status, v.headline = Improved, i
		}
		return
	}
	v.Status, v.headline, v.NextLook = Inconclusive, open[0], j.next
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
func (f Finding) blocks(j judging) bool {
	return f.Role != Watched || f.worsens() || j.next > 0 && f.resolves(j)
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
