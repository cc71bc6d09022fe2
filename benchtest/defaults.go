package benchtest

import (
	"cmp"
	"iter"
	"math"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// The defaults of a point that are no limits of validity.
const (
	// defaultRuns is the first look of the gate.
	defaultRuns   = 3
	defaultStarts = 1
	defaultDrain  = 60 * time.Second
	// leastPhase and phaseShare: warmup and settle are 10 % of the window's
	// requests, and at least 50.
	leastPhase = 50
	phaseShare = 0.10
	// closedWaves is how many times all slots of a closed loop turn over
	// during warmup and settle. Its first wave starts at one instant, so it
	// takes some for the slots to spread.
	closedWaves = 4
)

// DefaultLimits returns the limits that stand for the zero fields of Limits:
//
//	ErrorRate  0.01   failed ÷ all requests of the window
//	Achieved   0.99   achieved ÷ offered rate
//	Lag        5ms    p99 of sent − scheduled, without waits for a connection;
//	                  where the point has an SLO at most 1 % of its limits on
//	                  TTFT and E2E, and never less than 0.5ms
//	Wake       5ms    p99 of how late this process ran, woke up and, in closed
//	                  loops and behind a ClientLimit, read; where the point
//	                  sets Lag, as much as that
//	Stamp      1ms    p99 of how late events were stamped, where the engine
//	                  can tell; where the point sets Lag, as much as that
//	Cached     0.01   prompt tokens from the cache above SharedTokens
//	Length     0.02   lengths served against lengths asked, either way
//	ZeroGaps   0.90   gaps of zero ÷ all gaps, above which a stream counts
//	                  as buffered
//	Shared     0.01   tokens served that were not the run's ÷ all, where they are
//	                  more than one request has; of requests 0.05 and five
func DefaultLimits() Limits {
	return Limits{
		ErrorRate: 0.01,
		Achieved:  0.99,
		Lag:       5 * time.Millisecond,
		Wake:      5 * time.Millisecond,
		Stamp:     time.Millisecond,
		Cached:    0.01,
		Length:    0.02,
		ZeroGaps:  0.90,
		Shared:    0.01,
	}
}

const (
	// lagShare is the part of a latency's limit that may be the client's. An
	// SLO's limits are known before the run; what the run measures must not
	// decide whether it counts.
	lagShare = 0.01
	// leastLag is the closest: a host with idle CPU is at a half of it.
	leastLag = 500 * time.Microsecond
)

// lagFor is the limit of lag of a point with that objective.
func lagFor(slo SLO) time.Duration {
	lag := DefaultLimits().Lag
	for _, limit := range []time.Duration{slo.TTFT, slo.E2E} {
		if limit > 0 {
			lag = min(lag, max(leastLag, time.Duration(lagShare*float64(limit))))
		}
	}
	return lag
}

// orDefaults fills the zero fields of a point's with that objective.
func (l Limits) orDefaults(slo SLO) Limits {
	d := DefaultLimits()
	if l.Stamp == 0 {
		l.Stamp = cmp.Or(l.Lag, d.Stamp)
	}
	if l.Wake == 0 {
		l.Wake = cmp.Or(l.Lag, d.Wake)
	}
	if l.ErrorRate == 0 {
		l.ErrorRate = d.ErrorRate
	}
	if l.Achieved == 0 {
		l.Achieved = d.Achieved
	}
	if l.Lag == 0 {
		l.Lag = lagFor(slo)
	}
	if l.Cached == 0 {
		l.Cached = d.Cached
	}
	if l.Length == 0 {
		l.Length = d.Length
	}
	if l.ZeroGaps == 0 {
		l.ZeroGaps = d.ZeroGaps
	}
	if l.Shared == 0 {
		l.Shared = d.Shared
	}
	return l
}

// orDefaults is the point with every default written out, so that a point
// that says 50 and one that leaves 50 to the default are the same point.
// Warmup and Settle of "none" are zero in it.
func (p Point) orDefaults() Point {
	if p.Runs == 0 {
		p.Runs = defaultRuns
	}
	if p.Starts == 0 {
		p.Starts = defaultStarts
	}
	if p.Drain == 0 {
		p.Drain = defaultDrain
	}
	phase := p.defaultPhase()
	p.Warmup = phaseLength(p.Warmup, phase)
	p.Settle = phaseLength(p.Settle, phase)
	p.Limits = p.Limits.orDefaults(p.SLO)
	p.Name = p.Label()
	return p
}

func phaseLength(asked, usual int) int {
	switch {
	case asked < 0:
		return 0
	case asked == 0:
		return usual
	}
	return asked
}

// defaultPhase is the usual number of requests of warmup and of settle. It
// follows from the point alone, so that it is the same in every arm.
func (p Point) defaultPhase() int {
	n := max(leastPhase, int(math.Ceil(phaseShare*p.expectedRequests())))
	if p.Closed.InFlight > 0 {
		n = max(n, closedWaves*p.Closed.InFlight)
	}
	return n
}

// expectedRequests is the number of requests that the window is expected to
// hold; zero where that depends on the engine.
func (p Point) expectedRequests() float64 {
	if p.Window == 0 || p.Arrivals == nil {
		return float64(p.Requests)
	}
	if r, ok := p.Arrivals.(rated); ok {
		return r.MeanRate(p.Window) * p.Window.Seconds()
	}
	return float64(countUntil(p.Arrivals, p.Window))
}

// rated is an arrival process that knows its own mean (see arrival.Process).
type rated interface {
	MeanRate(over time.Duration) float64
}

// countUntil counts the arrivals of the schedule of seed 0 before end, up to
// more than any plan may have.
func countUntil(p arrival.Process, end time.Duration) int {
	n := 0
	for range until(p.Times(0), end) {
		if n++; n > maxRequests {
			break
		}
	}
	return n
}

func until(times iter.Seq[time.Duration], end time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for t := range times {
			if t >= end || !yield(t) {
				return
			}
		}
	}
}
