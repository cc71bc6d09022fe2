package regressions

import (
	"slices"
	"time"
)

// turns is how the runs of two arms stand to each other.
type turns struct {
	// taken is true when the arms took turns; own when each run had an engine
	// start of its own; together when both arms went from start to start at
	// once, and often enough for the pair of starts to be the unit.
	taken, own, together bool
}

// conditional reports whether a verdict holds only if engine starts are alike.
func (t turns) conditional() bool { return !t.own && !t.together }

// inTurns reports whether both runs of each index were begun before any run of
// the next. Runs without a time are not known to be.
func inTurns(base, cand []Run) bool {
	type pair struct{ first, last time.Time }
	var turns []pair
	for _, c := range cand {
		b := base[slices.IndexFunc(base, func(r Run) bool { return r.Index == c.Index })]
		if b.Time.IsZero() || c.Time.IsZero() {
			return false
		}
		p := pair{b.Time, c.Time}
		if p.last.Before(p.first) {
			p.first, p.last = p.last, p.first
		}
		turns = append(turns, p)
	}
	slices.SortFunc(turns, func(a, b pair) int { return a.first.Compare(b.first) })
	for i := 1; i < len(turns); i++ {
		if !turns[i-1].last.Before(turns[i].first) {
			return false
		}
	}
	return true
}
