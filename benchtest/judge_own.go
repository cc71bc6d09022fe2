package benchtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

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
	s := sentOf(j.window)
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
	reading, who := readWake, "one wake-up in a hundred of this process came"
	if j.stamped() {
		reading, who = readStamp, "one event in a hundred was stamped"
	}
	if late, known := j.r.Client.Readings[reading]; known {
		add(who, micro(late), "p99-itl-sec")
	}
	if parts != nil {
		j.warn("this host's own lateness is a large part of what was measured: %s: give it more CPU or lower the load; other runs compare only if they are as late (Limits.Lag, Limits.Wake and Limits.Stamp make such runs invalid)", strings.Join(parts, "; "))
	}
}
