package benchtest

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// The largest plans. They are far above any that makes sense, and small
// enough that a plan can be walked before it starts and that no sum of its
// times overflows: a slip of the pen is refused, not waited for.
const (
	maxRequests = 10_000_000
	maxRuns     = 1_000
	maxInFlight = 1_000_000
	maxSpan     = 365 * 24 * time.Hour
)

// bounds refuses what is too large to be meant.
func (c *complaints) bounds(p Point) {
	for _, f := range []struct {
		name       string
		got, limit int
	}{
		{"Requests", p.Requests, maxRequests}, {"Warmup", p.Warmup, maxRequests}, {"Settle", p.Settle, maxRequests},
		{"Runs", p.Runs, maxRuns}, {"Closed.InFlight", p.Closed.InFlight, maxInFlight},
	} {
		if f.got > f.limit {
			c.addf("Point.%s must be at most %d, got %d", f.name, f.limit, f.got)
		}
	}
	for _, f := range []struct {
		name string
		got  time.Duration
	}{{"Window", p.Window}, {"Drain", p.Drain}} {
		if f.got > maxSpan {
			c.addf("Point.%s must be at most a year, %v, got %v", f.name, maxSpan, f.got)
		}
	}
}

// fits refuses a schedule whose arrivals, n until at, are too many or too late.
func (s schedule) fits(n int, at time.Duration) error {
	if n > maxRequests {
		return fmt.Errorf("more than %d arrivals in %s: lower Window or the rate", maxRequests, s.size())
	}
	if at > maxSpan {
		return fmt.Errorf("arrival %d of %s is due after %v, at most a year is planned: raise the rate or lower the number of requests", n, arrival.String(s.process), at)
	}
	return nil
}
