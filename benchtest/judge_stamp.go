package benchtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// stamped reports whether the transport has the time at which bytes came, so that
// it is known how late events were stamped. Where it has not, how late this
// process woke up stands for it: a sample of its own, of a hundred a second, in
// which an idle host shows half a millisecond now and then. So that is held
// against the limit of lag, and what transports tell against a closer one.
func (j *judge) stamped() bool {
	c := j.r.Client.Readings
	_, late := c[readStamp]
	_, unread := c[readLag]
	return late || unread
}

// unread tells how long bytes lay unread. They have the times at which they came
// all the same; but who waits for a slot to become free, in a closed loop or
// behind a limit of the client's, is let go as much later.
func (j *judge) unread(ok func(string, ...any)) {
	lay, known := j.r.Client.Readings[readLag]
	switch {
	case !known:
	case j.r.InFlight > 0 || j.p.ClientLimit > 0:
		j.late(readLag, j.p.Limits.Lag, "bytes lay unread for %v (p99)", "slots became free as much later", "raise Limits.Lag", ok)
	default:
		ok("bytes lay unread for %v (p99), and have their times all the same", micro(lay))
	}
}

const (
	// ownShare is the part of a metric, in the quantile that lateness is of,
	// above which this host's own is told: what gates tolerate by default.
	ownShare = 0.05
	// ownLeast is a lateness that hosts with idle CPU have.
	ownLeast = 200 * time.Microsecond
)

// ownPart warns where this host's own lateness is a large part of what was
// measured, although it is within the limits: a lag of 4 ms is nothing of a TTFT
// of half a second, and a fifth of one of 20 ms. It makes no run invalid, since
// runs must not count by what they measured.
func (j *judge) ownPart() {
	s := sentOf(j.window, j.notLate())
	if j.r.Virtual || len(s.lags) == 0 || slices.ContainsFunc(j.problems, func(p metric.Problem) bool { return p.Kind == kindClient }) {
		return
	}
	var parts []string
	add := func(who string, own time.Duration, name string) bool {
		value, err := j.r.Value(name)
		if err != nil {
			return false
		}
		if share := own.Seconds() / value; own > ownLeast && share > ownShare {
			part := percent(share) + " of"
			if share > 1 {
				part = fmt.Sprintf("%.3g times", share)
			}
			parts = append(parts, fmt.Sprintf("%s %v late, which is %s %s (%v)", who, own.Round(time.Microsecond), part, name, micro(value)))
		}
		return true
	}
	add("half of the requests left", s.lag(0.5), "p50-ttft-sec")
	for _, tail := range []struct {
		who, name string
		p         float64
	}{
		{"one request in a hundred left", "p99-ttft-sec", 0.99},
		{"one request in twenty left", "p95-ttft-sec", 0.95},
		{"one request in ten left", "p90-ttft-sec", 0.90},
	} {
		if add(tail.who, s.lag(tail.p), tail.name) {
			break // a run that is too small for it has a lower one
		}
	}
	reading := readWake
	if j.stamped() {
		reading = readStamp
	}
	if late, known := j.r.Client.Readings[reading]; known {
		add("one event in a hundred was stamped", micro(late), "p99-itl-sec")
	}
	if parts != nil {
		j.warn("this host's own lateness is a large part of what was measured: %s: give it more CPU or lower the load; other runs compare only if they are as late (Limits.Lag and Limits.Stamp make such runs invalid)", strings.Join(parts, "; "))
	}
}
