package benchtest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// Validate reports everything that is wrong with the point, each with the
// field, its value and the limit. It starts nothing. What depends on the
// engine, such as Starts that need one that can be restarted, is checked when
// a measurement begins.
func (p Point) Validate() error {
	var c complaints
	c.part("Point.Workload", func() { c.workload(p.Workload) })
	c.part("Point.Arrivals", func() { c.load(p) })
	c.phases(p)
	c.bounds(p)
	if p.SLO != (SLO{}) {
		if err := p.SLO.Validate(); err != nil {
			c.add("Point.SLO", err)
		}
	}
	c.limits(p.Limits)
	return errors.Join(c...)
}

// part checks with the code of the point's own parts. A panic in it, as of a
// nil pointer to one of them, is a complaint.
func (c *complaints) part(field string, check func()) {
	defer func() {
		if v := recover(); v != nil {
			c.addf("%s cannot be used, checking it panicked: %v", field, v)
		}
	}()
	check()
}

// complaints collects what is wrong.
type complaints []error

func (c *complaints) addf(format string, args ...any) {
	*c = append(*c, fmt.Errorf("benchtest: "+format, args...))
}

// add keeps the words of a part's own Validate.
func (c *complaints) add(field string, err error) {
	*c = append(*c, fmt.Errorf("benchtest: %s: %w", field, err))
}

func (c *complaints) workload(w Workload) {
	if w == nil {
		c.addf("Point.Workload must be set, got nil: use one of package fixtures or your own")
		return
	}
	if v, ok := w.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			c.add("Point.Workload", err)
			return // its requests would only repeat it
		}
	}
	if _, err := request(w, 0, 1, 1); err != nil {
		c.add("Point.Workload", err)
	}
}

func (c *complaints) load(p Point) {
	n := p.Closed.InFlight
	switch {
	case n < 0:
		c.addf("Point.Closed.InFlight must not be negative, got %d: use 1 or more, or 0 for an open loop", n)
	case p.Arrivals == nil && n == 0:
		c.addf("exactly one of Point.Arrivals and Point.Closed must be set, got neither: as in Arrivals: arrival.Poisson{Rate: 4}")
	case p.Arrivals != nil && n > 0:
		c.addf("exactly one of Point.Arrivals and Point.Closed must be set, got both (%s and %d in flight)", arrival.String(p.Arrivals), n)
	}
	if p.Arrivals != nil {
		if err := arrival.Validate(p.Arrivals); err != nil {
			c.add("Point.Arrivals", err)
		}
	}
	switch {
	case p.ClientLimit < 0:
		c.addf("Point.ClientLimit must not be negative, got %d: use 0 for no limit", p.ClientLimit)
	case p.ClientLimit > 0 && n > 0:
		c.addf("Point.ClientLimit must be 0 in a closed loop, got %d: Closed.InFlight is its limit", p.ClientLimit)
	}
	switch {
	case p.MaxInFlight < 0:
		c.addf("Point.MaxInFlight must not be negative, got %d: use 0 for no cap", p.MaxInFlight)
	case p.MaxInFlight > 0 && p.MaxInFlight <= n:
		c.addf("Point.MaxInFlight must be more than Closed.InFlight, got %d for %d in flight", p.MaxInFlight, n)
	}
	if !(p.ProbeRate >= 0 && p.ProbeRate <= maxProbeRate) {
		c.addf("Point.ProbeRate must be from 0 to %d, got %v: it is probes a second beside the load, and 0 sends none", maxProbeRate, p.ProbeRate)
	}
	if !(p.Capacity >= 0) || math.IsInf(p.Capacity, 1) {
		c.addf("Point.Capacity must be finite and not negative, got %v: use requests a second, or 0 for unknown", p.Capacity)
	}
}

func (c *complaints) phases(p Point) {
	switch {
	case p.Requests < 0:
		c.addf("Point.Requests must be positive, got %d", p.Requests)
	case p.Window < 0:
		c.addf("Point.Window must be positive, got %v", p.Window)
	case p.Requests == 0 && p.Window == 0:
		c.addf("exactly one of Point.Requests and Point.Window must be set, got neither: as in Requests: 300")
	case p.Requests > 0 && p.Window > 0:
		c.addf("exactly one of Point.Requests and Point.Window must be set, got both (%d and %v)", p.Requests, p.Window)
	}
	if p.Drain < 0 {
		c.addf("Point.Drain must not be negative, got %v: use 0 for %v", p.Drain, time.Duration(defaultDrain))
	}
	switch p.Cache {
	case Cold, ProvedCold, Warm:
	default:
		c.addf("Point.Cache must be Cold, ProvedCold or Warm, got %q", string(p.Cache))
	}
	if !(p.SharedTokens >= 0 && p.SharedTokens <= 1) {
		c.addf("Point.SharedTokens must be from 0 to 1, got %v: it is a share of the prompt tokens", p.SharedTokens)
	}
	if p.Runs < 0 {
		c.addf("Point.Runs must not be negative, got %d: use 0 for %d", p.Runs, defaultRuns)
	}
	runs := p.Runs
	if runs == 0 {
		runs = defaultRuns
	}
	switch {
	case p.Starts < 0:
		c.addf("Point.Starts must not be negative, got %d: use 0 for %d", p.Starts, defaultStarts)
	case p.Starts > runs && p.Runs >= 0:
		c.addf("Point.Starts must be at most the number of runs, got %d for %d runs", p.Starts, runs)
	}
	if name := strings.Trim(p.Name, nameBytes); name != "" || strings.Trim(p.Name, ".") != p.Name || len(p.Name) > 100 {
		c.addf("Point.Name must be at most 100 letters, digits and - _ . with no dot at its ends, got %q: it is part of file names", p.Name)
	}
}

// nameBytes are what a name in a path is made of, on every system.
const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func (c *complaints) limits(l Limits) {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"ErrorRate", l.ErrorRate}, {"Achieved", l.Achieved}, {"Cached", l.Cached},
		{"Length", l.Length}, {"ZeroGaps", l.ZeroGaps}, {"Shared", l.Shared},
	} {
		if !(f.value >= 0) {
			c.addf("Point.Limits.%s must not be negative, got %v: use 0 for the default", f.name, f.value)
		}
	}
	if l.Lag < 0 {
		c.addf("Point.Limits.Lag must not be negative, got %v: use 0 for %v", l.Lag, DefaultLimits().Lag)
	}
	if l.Wake < 0 {
		c.addf("Point.Limits.Wake must not be negative, got %v: use 0 for %v", l.Wake, DefaultLimits().Wake)
	}
	if l.Stamp < 0 {
		c.addf("Point.Limits.Stamp must not be negative, got %v: use 0 for %v", l.Stamp, DefaultLimits().Stamp)
	}
}

// request asks the workload for request i and checks what comes back; a panic
// in the workload is its error.
func request(w Workload, i int, shape, content uint64) (r engines.Request, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("Request(%d) panicked: %v", i, v)
		}
	}()
	r = w.Request(i, shape, content)
	switch {
	case r.MaxTokens <= 0:
		err = fmt.Errorf("Request(%d).MaxTokens must be positive, got %d", i, r.MaxTokens)
	case r.MinTokens < 0 || r.MinTokens > r.MaxTokens:
		err = fmt.Errorf("Request(%d).MinTokens must be from 0 to MaxTokens, got %d of %d", i, r.MinTokens, r.MaxTokens)
	case len(r.Tokens) == 0 && r.Text == "":
		err = fmt.Errorf("Request(%d) has an empty prompt: set Tokens or Text", i)
	}
	return r, err
}
