package stat

// Decision is what one look at an estimate says.
type Decision int

// The decisions. Undecided, the zero value, asks for another look.
const (
	Undecided Decision = iota
	// Slower: worse than the baseline, and by at least the margin as measured.
	Slower
	// Within: shown not to be worse by the margin.
	Within
	// Faster: better than the baseline, and by at least the margin as measured.
	Faster
)

// String returns "undecided", "slower", "within" or "faster".
func (d Decision) String() string {
	switch d {
	case Slower:
		return "slower"
	case Within:
		return "within"
	case Faster:
		return "faster"
	}
	return "undecided"
}

// Rule decides one look.
type Rule struct {
	// Margin is the difference that the owner tolerates, on the test's scale:
	// ln(1 + margin) for a ratio.
	Margin float64
	// Worse is the nominal one-sided level at which a look may say Slower (and
	// Faster), Same that at which it may say Within; both from Nominal.
	Worse, Same float64
}

// Decide judges an estimate: Slower if it is shown to be above zero and is at
// least the margin; Within if it is shown to be below the margin; Faster,
// which is also Within, if it is shown to be below zero and is at least the
// margin below. A value that is not finite decides nothing.
func (r Rule) Decide(e Estimate) Decision {
	switch {
	case !finite(r.Margin, r.Worse, r.Same):
		return Undecided
	case e.AtMost(0) <= r.Worse && e.Diff >= r.Margin:
		return Slower
	case e.AtLeast(0) <= r.Worse && e.Diff <= -r.Margin:
		return Faster
	case e.AtLeast(r.Margin) <= r.Same:
		return Within
	}
	return Undecided
}
