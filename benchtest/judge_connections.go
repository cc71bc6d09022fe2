package benchtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

const (
	// keptFor is for how long a connection that became idle is counted on: a
	// client keeps it for longer by itself.
	keptFor = 3 * time.Second
	// closedShare is the share of the window's requests that found their
	// connection closed above which it is told. A proxy that ends a connection
	// after 100 requests, or a thousand, costs less than anybody sees.
	closedShare = 0.1
)

// fieldDials is the key of the identity that says that each request was to have
// a connection of its own.
const fieldDials = "client-connections"

// dialled reports whether the point's engine was asked to open a connection for
// each request.
func dialled(r *metric.Record) bool {
	return slices.ContainsFunc(r.Identity, func(p metric.Pair) bool { return p.Key == fieldDials })
}

// closedOn are the window's requests that had to open a connection although an
// earlier request's had become idle, and not long ago: the server had ended it.
// Those that were more at once than any before are not among them, nor those
// that came so late that this side had ended the connection itself.
func closedOn(r *metric.Record) map[*metric.Timeline]bool {
	type step struct {
		at    time.Duration
		takes *metric.Timeline // nil: a connection becomes idle
	}
	var steps, takes []step
	for i := range r.Requests {
		t := &r.Requests[i]
		if t.Sent == 0 {
			continue
		}
		takes = append(takes, step{max(t.Scheduled, t.Released), t})
		if t.Failure == "" {
			steps = append(steps, step{t.Closed, nil})
		}
	}
	steps = append(steps, takes...) // of one instant, what becomes idle is first
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	closed := map[*metric.Timeline]bool{}
	var idle []time.Duration // since when, the one used last at the end
	for _, s := range steps {
		if s.takes == nil {
			idle = append(idle, s.at)
			continue
		}
		if len(idle) == 0 {
			continue
		}
		last := idle[len(idle)-1]
		idle = idle[:len(idle)-1]
		if s.takes.NewConnection && s.at-last < keptFor && s.takes.Phase == metric.Window {
			closed[s.takes] = true
		}
	}
	return closed
}

// notLate are the window's requests whose wait for a connection is no lag of this
// side's: the server had ended the one they would have had, or each was to have
// one of its own.
func (j *judge) notLate() map[*metric.Timeline]bool {
	if j.waits != nil {
		return j.waits
	}
	j.waits = map[*metric.Timeline]bool{}
	switch {
	case j.r.Virtual:
	case dialled(j.r):
		for _, t := range j.window {
			j.waits[t] = true
		}
	default:
		j.waits = closedOn(j.r)
	}
	return j.waits
}

// connections: what a server costs that ends connections which were to be kept.
// It is a property of the server's and makes no run invalid.
func (j *judge) connections() {
	if j.r.Virtual || dialled(j.r) {
		return
	}
	closed := len(j.notLate())
	opened, waits := j.opened()
	if float64(closed) <= closedShare*float64(len(j.window)) {
		return
	}
	took := "; how long that took is not known"
	if len(waits) > 0 {
		took = fmt.Sprintf("; that took %v (p50), %v at most, which is in TTFT and E2E", brief(waits[(len(waits)-1)/2]), brief(waits[len(waits)-1]))
	}
	j.warn("%s were opened in the window for %s, %d of them although the connection of an earlier one had just become idle: the server ends connections that were to be kept%s%s; let it keep them (HTTP/1.1 without \"Connection: close\", keep-alive in proxies), or compare only with runs that dialled as well",
		many(opened, "connection"), many(len(j.window), "request"), closed, j.protocols(), took)
}

// opened counts the window's requests that opened a connection, with how long
// that took them, sorted, as far as it is known.
func (j *judge) opened() (n int, waits []time.Duration) {
	for _, t := range j.window {
		if !t.NewConnection {
			continue
		}
		n++
		if t.Connect > 0 {
			waits = append(waits, t.Connect)
		}
	}
	slices.Sort(waits)
	return n, waits
}

// protocols is " (HTTP/1.0)" where replies are of another protocol than
// HTTP/1.1.
func (j *judge) protocols() string {
	var names []string
	for _, t := range j.window {
		if t.Protocol != "" && !slices.Contains(names, t.Protocol) {
			names = append(names, t.Protocol)
		}
	}
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
