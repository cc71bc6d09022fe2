package metric

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"
)

// Counted returns the requests of the window: those scheduled in [From, To),
// whenever they ended.
func (r *Record) Counted() []*Timeline { return r.within(r.Requests) }

// countedProbes are the probes of the window.
func (r *Record) countedProbes() []*Timeline { return r.within(r.Probes) }

// within are those of the timelines, which are in order of schedule, that were
// scheduled in the window.
func (r *Record) within(timelines []Timeline) []*Timeline {
	lo := sort.Search(len(timelines), func(i int) bool { return timelines[i].Scheduled >= r.From })
	hi := sort.Search(len(timelines), func(i int) bool { return timelines[i].Scheduled >= r.To })
	if hi < lo {
		hi = lo
	}
	counted := make([]*Timeline, hi-lo)
	for i := range counted {
		counted[i] = &timelines[lo+i]
	}
	return counted
}

// Valid reports that nothing makes the run untrustworthy.
func (r *Record) Valid() bool { return len(r.Problems) == 0 }

// Open reports that the run was an open loop.
func (r *Record) Open() bool { return r.InFlight == 0 }

// QuietShare of a known capacity is a load at which latencies are judged
// although the stability of the queue is undecided.
const QuietShare = 0.7

// Quiet reports that the load is known to be quiet: one request in flight, or
// an open loop that offered at most QuietShare of a known capacity.
func (r *Record) Quiet() bool {
	return r.InFlight == 1 || r.Capacity > 0 && r.Rate > 0 && r.Rate <= QuietShare*r.Capacity
}

// Attainment counts the window's requests that are good by the SLO, and all
// of them. Failed, refused and unfinished requests count as misses; only what
// the user stopped is left out of both.
func (r *Record) Attainment(s SLO) (good, total int) {
	for _, t := range r.Counted() {
		if t.Failure == Aborted {
			continue
		}
		total++
		if s.Good(t) {
			good++
		}
	}
	return good, total
}

// Goodput is the number of good requests a second of the window. It is an
// error for a closed loop, whose load follows the server, for an SLO that is
// not valid, for a window without requests, and for a limit on TPOT where the
// server did not count tokens.
func (r *Record) Goodput(s SLO) (float64, error) {
	if err := s.Validate(); err != nil {
		return 0, err
	}
	seconds, err := r.openSeconds()
	if err != nil {
		return 0, err
	}
	if err := r.countable(s); err != nil {
		return 0, err
	}
	good, _ := r.Attainment(s)
	return float64(good) / seconds, nil
}

// openSeconds is the length of the window of an open loop.
func (r *Record) openSeconds() (float64, error) {
	switch {
	case !r.Open():
		return 0, fmt.Errorf("metric: no goodput of a closed loop of %d in flight: its load follows the server; use an open loop", r.InFlight)
	case r.To <= r.From:
		return 0, fmt.Errorf("metric: no goodput of a window from %v to %v: it has no length", r.From, r.To)
	}
	return (r.To - r.From).Seconds(), nil
}

// countable reports why the requests that met the SLO cannot be counted.
func (r *Record) countable(s SLO) error {
	counted := r.Counted()
	if !slices.ContainsFunc(counted, func(t *Timeline) bool { return t.Failure != Aborted }) {
		return errors.New("metric: no goodput of a window without requests")
	}
	if s.TPOT == 0 {
		return nil
	}
	for _, t := range counted {
		if !t.Failed() && t.OutputTokens < 0 {
			return fmt.Errorf("metric: SLO.TPOT is %v and the server counted no tokens of request %s: make it report usage, or limit ITL instead", s.TPOT, t.ID)
		}
	}
	return nil
}

// InFlightAt is the number of requests in flight just before t: scheduled
// before t and not ended before it. It counts from the schedule, as latency
// does, so that what waits on this side is in flight too. A request that
// neither ended nor failed by the end of the run is in flight for ever.
func (r *Record) InFlightAt(t time.Duration) int {
	n := 0
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Scheduled >= t {
			break
		} else if end, ended := q.End(); !ended || end >= t {
			n++
		}
	}
	return n
}

// End is when the request left the system: its last token event where it
// succeeded, else the end of its stream or, without one, its sending. It is
// absent for a request that was cut while it was in flight, since nobody
// knows when it would have ended.
func (t *Timeline) End() (time.Duration, bool) {
	switch {
	case t.Failure == Unfinished || t.Failure == Aborted:
		return 0, false
	case !t.Failed() && t.LastToken > 0:
		return t.LastToken, true
	}
	return max(t.Scheduled, t.Sent, t.LastToken, t.Closed), true
}
