package arrival

import (
	"fmt"
	"iter"
	"time"
)

// Constant is one arrival every 1/Rate seconds: arrival i, counted from 0, is
// at i/Rate. It ignores the seed. A server that is fed at constant gaps shows
// shorter queues than users will see; Poisson is the better default.
type Constant struct {
	// Rate is in arrivals a second; it must be positive.
	Rate float64
}

// Times yields 0, 1/Rate, 2/Rate and so on, each to the nearest nanosecond.
func (c Constant) Times(uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		if c.Validate() != nil {
			return
		}
		for i := uint64(0); ; i++ {
			t, ok := count{whole: i}.at(c.Rate)
			if !ok || !yield(t) {
				return
			}
		}
	}
}

// MeanRate is Rate.
func (c Constant) MeanRate(time.Duration) float64 { return c.Rate }

// Validate reports a rate that is not positive or above 1,000,000/s.
func (c Constant) Validate() error { return checkRate("Constant.Rate", c.Rate) }

// String is, for example, "constant 200/s".
func (c Constant) String() string { return fmt.Sprintf("constant %s/s", number(c.Rate)) }
