package stat

import "math"

// Planner plans the looks of a gate before anything is measured.
type Planner struct {
	// Layout is how the runs of the arms stand to each other; zero is Stored.
	Layout Layout
	// S is the expected standard deviation of one run (between starts for
	// ByStart) on the scale of the test: for a ratio its coefficient of
	// variation. Zero or NaN plans nothing.
	S float64
	// Stored is the number of runs (starts for ByStart) of a stored baseline;
	// the other layouts ignore it.
	Stored int
	// Rule decides the looks: the margin, and the nominal levels of Nominal.
	Rule Rule
	// Power is the probability of finding what there is; zero is 0.80.
	Power float64
}

// At is what a look of n candidate runs will have.
func (p Planner) At(n int) Expected {
	e := p.Layout.Expect(p.S, p.Stored, n)
	e.Power = p.Power
	return e
}

// Resolvable is the smallest margin, on the scale of the test, within which an
// unchanged engine is shown to be at a look of n candidate runs.
func (p Planner) Resolvable(n int) float64 { return p.At(n).Resolvable(p.Rule.Same) }

// Smallest is the smallest true difference that a look of n candidate runs
// calls regressed.
func (p Planner) Smallest(n int) float64 { return p.At(n).Smallest(p.Rule.Margin, p.Rule.Worse) }

// Largest is the largest standard deviation of a run with which a look of n
// candidate runs resolves the margin; 0 when none does.
func (p Planner) Largest(n int) float64 {
	p.S = 1
	return p.Rule.Margin / p.Resolvable(n)
}

// ToPass is the number of runs at which a difference of diff, if it is the
// true one, is shown to be below the margin; a diff below zero counts as zero.
func (p Planner) ToPass(diff float64) Needed {
	gap := p.Rule.Margin - math.Max(0, diff)
	return p.Layout.needed(p.Stored, func(m, n int) bool {
		p.Stored = m
		return p.Resolvable(n) <= gap
	})
}
