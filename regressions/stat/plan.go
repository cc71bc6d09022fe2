package stat

import (
	"fmt"
	"math"
)

// Layout is how the runs of two arms stand to each other, as the planner needs
// to know it.
type Layout int

// The layouts.
const (
	// Stored: a baseline of fixed size and new runs.
	Stored Layout = iota
	// Interleaved: as many new runs of the baseline as of the candidate.
	Interleaved
	// Replayed: every candidate run has a partner with the same arrivals; the
	// standard deviation is that of a difference ÷ √2.
	Replayed
	// ByStart: a stored baseline whose starts are the unit: m and n count
	// starts, and the standard deviation is that between starts.
	ByStart
)

// fixed reports whether the baseline has a size of its own.
func (l Layout) fixed() bool { return l == Stored || l == ByStart }

// shape gives the degrees of freedom and √(1/m + 1/n) at n candidate runs.
func (l Layout) shape(m, n int) (df, scale float64) {
	if !l.fixed() {
		m = n
	}
	df = float64(m + n - 2)
	switch l {
	case Replayed:
		df = float64(n - 1)
	case ByStart:
		df = float64(m - 1)
	}
	return df, math.Sqrt(1/float64(m) + 1/float64(n))
}

// Resolvable is the smallest margin, on the scale of s, within which an
// unchanged engine is shown to be with 80 % power at a look of n candidate
// runs: (t₁₋ₚ + t₀.₈)·s·√(1/m + 1/n), p the nominal level of Within. With
// p = 0.0166: 3.37·s for 3+3 runs, 1.28·s for 12+12. m counts only for Stored.
func (l Layout) Resolvable(s, level float64, m, n int) float64 {
	return l.Expect(s, m, n).Resolvable(level)
}

// Smallest is the smallest true difference that a look of n candidate runs
// calls regressed with 80 % power; see Expected.Smallest.
func (l Layout) Smallest(s, margin, level float64, m, n int) float64 {
	return l.Expect(s, m, n).Smallest(margin, level)
}

// Needed is how many runs would decide.
type Needed struct {
	// Candidate is the number of candidate runs, Baseline that of baseline
	// runs; Baseline is larger than it is now when no number of candidate
	// runs would do, or only one more than twice the baseline's.
	Candidate, Baseline int
	// Never is true when MaxRuns an arm would not decide.
	Never bool
}

// MaxRuns bounds the planner: more runs of an arm are reported as Never.
const MaxRuns = 2000

// String returns the numbers in words.
func (n Needed) String() string {
	if n.Never {
		return fmt.Sprintf("more than %d runs", MaxRuns)
	}
	return fmt.Sprintf("%d runs against a baseline of %d", n.Candidate, n.Baseline)
}

// ToPass is the number of runs at which a difference of diff, if it is the
// true one, is shown to be below the margin with 80 % power at the nominal
// level; a diff below zero counts as zero. m is the baseline's size now.
func (l Layout) ToPass(s, diff, margin, level float64, m int) Needed {
	return Planner{Layout: l, S: s, Stored: m, Rule: Rule{Margin: margin, Same: level}}.ToPass(diff)
}

// ToRegress is the number of runs at which a difference of diff, as measured,
// is significant at the nominal level.
func (l Layout) ToRegress(s, diff, level float64, m int) Needed {
	return l.needed(m, func(m, n int) bool { return l.Expect(s, m, n).Line(level) <= diff })
}

func (l Layout) needed(m int, decides func(m, n int) bool) Needed {
	least := MinRuns
	if l == ByStart {
		least = 1
	}
	if !l.fixed() {
		n := search(least, func(n int) bool { return decides(n, n) })
		return Needed{Candidate: n, Baseline: n, Never: n > MaxRuns}
	}
	// A candidate more than twice the baseline's size means that the
	// baseline's own uncertainty, 1/m, is what is in the way.
	if n := search(least, func(n int) bool { return decides(m, n) }); n <= 2*m {
		return Needed{Candidate: n, Baseline: m}
	}
	n := search(least, func(n int) bool { return decides(max(n, m), n) })
	return Needed{Candidate: n, Baseline: max(n, m), Never: n > MaxRuns}
}

// search is the smallest number of runs, from least on, that decides, MaxRuns+1
// for none; more runs never decide less.
func search(least int, decides func(n int) bool) int {
	lo, hi := least, MaxRuns+1
	for lo < hi {
		mid := (lo + hi) / 2
		if decides(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
