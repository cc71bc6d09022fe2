package metric

import "math"

// Direction is the direction in which a metric gets better.
type Direction int

// The directions. Same, the zero value, is for a metric that describes the
// work done: it is neither better nor worse, only different.
const (
	Same Direction = iota
	Lower
	Higher
)

// String returns "lower", "higher" or "same".
func (d Direction) String() string {
	switch d {
	case Lower:
		return "lower"
	case Higher:
		return "higher"
	}
	return "same"
}

// Scale says how two values of a metric are compared.
type Scale int

// The scales. Ratio, the zero value, compares logarithms: every legal value
// is positive. Difference is for rates, shares and anything that may be zero.
const (
	Ratio Scale = iota
	Difference
)

// String returns "ratio" or "difference".
func (s Scale) String() string {
	if s == Difference {
		return "difference"
	}
	return "ratio"
}

// Def is the definition of a metric that Record.Value knows.
type Def struct {
	// Name is the metric's name, as in "p99-ttft-sec".
	Name string
	// Unit is the unit of its values: "sec", "req/s", "tok/s", "tokens", or
	// "share" for a number from 0 to 1.
	Unit   string
	Better Direction
	Scale  Scale
	// Note is the formula, in words.
	Note string
}

// Lookup returns the definition of a metric.
func Lookup(name string) (Def, bool) { panic("later") }

// Names returns the names of all metrics, in the order of reports.
func Names() []string { panic("later") }

// Change is the relative change (new − old) ÷ old; an error when it has none.
func Change(old, new float64) (float64, error) { return math.NaN(), nil }
