package arrival

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"
)

// Process is an arrival process: it turns a seed into a schedule.
//
// The types of this package are processes. A process of your own may also
// have Validate() error, called before anything starts, String() string,
// which names it in reports and is part of the point's identity, and
// MeanRate(over time.Duration) float64, the arrivals a second that it expects
// from zero to over, which lets SelfTest check its schedules.
type Process interface {
	// Times yields the absolute times of arrivals, from zero on and never
	// decreasing. The same seed yields the same times. The sequence has no
	// end, unless the process itself has one (a trace) or time has: the
	// types of this package end before 292 years.
	Times(seed uint64) iter.Seq[time.Duration]
}

// rater is a process that knows its own mean.
type rater interface {
	MeanRate(over time.Duration) float64
}

// maxRate is the largest rate: at 10⁶ arrivals a second the nanosecond of a
// time.Duration is a thousandth of a gap.
const maxRate = 1e6

// Validate reports everything that is wrong with p: that it is nil, and what
// its own Validate says, where it has one.
func Validate(p Process) error {
	if p == nil {
		return errors.New("arrival: no process: set one, as in arrival.Poisson{Rate: 4}")
	}
	if v, ok := p.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// String names p as reports and identities do: by its String method or, where
// it has none, by its type and fields. The name of nil is "none".
func String(p Process) string {
	if p == nil {
		return "none"
	}
	if s, ok := p.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T%+v", p, p)
}

// checkRate returns the complaint about a rate, or nil.
func checkRate(field string, rate float64) error {
	if rate > 0 && rate <= maxRate {
		return nil
	}
	return fmt.Errorf("arrival: %s must be positive and at most 1,000,000/s, got %s: set arrivals per second", field, number(rate))
}

func number(x float64) string {
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
