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
	// slowDials is the share of the window's requests that waited for a new
	// connection for longer than Limits.Lag above which it is told: a p99 is
	// moved by it.
	slowDials = 0.01
)

// dialled reports whether the point's engine was asked to open a connection for
// each request.
func dialled(r *metric.Record) bool {
	return slices.ContainsFunc(r.Identity, func(p metric.Pair) bool { return p.Key == fieldDials })
}

// closedOn are the window's requests that had to open a connection although an
// earlier request's had become idle, and not long ago: the server had ended it.
// Those that were more at once than any before are not among them, nor those
// that came so late that this side had ended the connection itself, nor those
// whose connection a probe took. (Transports have a connection back before they
// say when its stream was closed, so that none is counted on too early.)
func closedOn(r *metric.Record) map[*metric.Timeline]bool {
	type step struct {
		at    time.Duration
		takes *metric.Timeline // nil: a connection becomes idle
	}
	var steps, takes []step
	for _, lines := range [][]metric.Timeline{r.Requests, r.Probes} {
		for i := range lines {
			t := &lines[i]
			if t.Sent == 0 {
				continue
			}
			takes = append(takes, step{max(t.Scheduled, t.Released), t})
			if t.Failure == "" {
				steps = append(steps, step{t.Closed, nil})
			}
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

// ended is closedOn of the run, where it can be told: none in virtual time, and
// none where each request was to have a connection of its own.
func (j *judge) ended() map[*metric.Timeline]bool {
	if j.closed == nil {
		j.closed = map[*metric.Timeline]bool{}
		if !j.r.Virtual && !dialled(j.r) {
			j.closed = closedOn(j.r)
		}
	}
	return j.closed
}

// dials reports whether requests open connections as a rule, since they were to
// or the server ends those that there are. It does not ask how many more were in
// flight than before, which depends on how slow the engine is.
func (j *judge) dials() bool {
	return dialled(j.r) || float64(len(j.ended())) > closedShare*float64(len(j.window))
}

// connections: what opening connections has cost, by a server that ends those that
// were to be kept, or by more requests in flight than before. It is a property of
// the server's and makes no run invalid.
func (j *judge) connections() {
	if j.r.Virtual || dialled(j.r) {
		return
	}
	closed := len(j.ended())
	opened, waits := j.opened()
	took := "; how long that took is not known"
	if len(waits) > 0 {
		took = fmt.Sprintf("; that took %v (p50), %v at most, which is in TTFT and E2E", brief(waits[(len(waits)-1)/2]), brief(waits[len(waits)-1]))
	}
	if j.dials() {
		j.warn("%s were opened in the window for %s, %d of them although the connection of an earlier one had just become idle: the server ends connections that were to be kept%s%s; let it keep them (HTTP/1.1 without \"Connection: close\", keep-alive in proxies), or compare only with runs that dialled as well",
			many(opened, "connection"), many(len(j.window), "request"), closed, j.protocols(), took)
		return
	}
	quick, _ := slices.BinarySearch(waits, j.p.Limits.Lag+1)
	if slow := len(waits) - quick; float64(slow) > slowDials*float64(len(j.window)) {
		j.warn("%s were opened in the window for %s, since more were in flight than before%s; raise Point.Warmup, so that they are opened before the window",
			many(opened, "connection"), many(len(j.window), "request"), took)
	}
}

// aside says that waits for connections are not in the lags, where there were
// any: "; waits for a connection, the longest 8ms, are not in it".
func (j *judge) aside() string {
	if _, waits := j.opened(); len(waits) > 0 && !j.r.Virtual {
		return fmt.Sprintf("; waits for a connection, the longest %v, are not in it", brief(waits[len(waits)-1]))
	}
	return ""
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
