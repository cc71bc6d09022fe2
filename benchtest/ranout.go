package benchtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// recorded are the phases whose requests a record has, in order.
var recorded = []metric.Phase{metric.Settle, metric.Window, metric.Cooldown}

// phaseWord is what a phase is called in reasons.
func phaseWord(phase metric.Phase) string {
	if phase == metric.Settle {
		return "settle"
	}
	return "the " + string(phase)
}

// met are the requests of a phase that those of the window had beside them: of
// the cooldown those that were due before the window's last had ended.
func met(r *metric.Record, phase metric.Phase) (lines []*metric.Timeline) {
	if phase == metric.Window {
		return r.Counted()
	}
	until := windowEnd(r)
	for i := range r.Requests {
		if t := &r.Requests[i]; t.Phase == phase && t.Scheduled < until {
			lines = append(lines, t)
		}
	}
	return lines
}

// windowEnd is when the last request of the window had ended. Of one that was cut
// nobody knows when it would have.
func windowEnd(r *metric.Record) (end time.Duration) {
	for _, t := range r.Counted() {
		at, ended := t.End()
		if !ended {
			return 1<<63 - 1
		}
		end = max(end, at, t.Closed)
	}
	return end
}

// ranOutIn are the requests of a phase that failed because this host had no
// descriptor or port for them.
func ranOutIn(lines []*metric.Timeline) (failed []*metric.Timeline) {
	for _, t := range lines {
		if t.Failure == string(engines.Client) {
			failed = append(failed, t)
		}
	}
	return failed
}

// ranOut: one request that failed because this host had no descriptor or port
// for it was not offered to the engine, and the load was another, also where it
// was to be met by the window's requests and is not one of them.
func (j *judge) ranOut() {
	var parts []string
	var all []*metric.Timeline
	inWindow := 0
	for _, phase := range recorded {
		lines := met(j.r, phase)
		failed := ranOutIn(lines)
		if len(failed) == 0 {
			continue
		}
		if phase == metric.Window {
			inWindow = len(failed)
		}
		all = append(all, failed...)
		parts = append(parts, fmt.Sprintf("%d of %s of %s", len(failed), many(len(lines), "request"), phaseWord(phase)))
	}
	if len(all) == 0 {
		return
	}
	who, harm := strings.Join(parts, ", "), ", so that those of the window met less load than planned"
	if inWindow == len(all) {
		who, harm = fmt.Sprintf("%d of %d requests", inWindow, len(j.window)), ""
	}
	keep := ""
	if opened, _ := j.opened(); 2*opened >= len(j.window) {
		keep = fmt.Sprintf(", keep connections (%d requests opened one)", opened)
	}
	j.problem(kindClient, "%s failed on this host and never reached the engine%s; first: %s: allow this process more files (ulimit -n) and ports (net.ipv4.ip_local_port_range)%s, or lower the load", who, harm, all[0].Message, keep)
}

// hostRanOut reports whether any request that counts for the load failed on this
// host.
func hostRanOut(r *metric.Record) bool {
	return slices.ContainsFunc(recorded, func(phase metric.Phase) bool { return ranOutIn(met(r, phase)) != nil })
}
