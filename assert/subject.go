package assert

import (
	"fmt"
	"strings"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// check refuses runs that no assertion may pass on: none at all, runs of
// different points, and runs that cannot be trusted; and so of a control that
// was measured in turns with them.
func check(runs *benchtest.Runs) (report, bool) {
	if bad, ok := checkArm(runs); !ok || runs.Control == nil {
		return bad, ok
	}
	bad, ok := checkArm(runs.Control)
	if !ok {
		bad.head = "of the control: " + bad.head
	}
	return bad, ok
}

func checkArm(runs *benchtest.Runs) (report, bool) {
	if runs == nil || len(runs.Records) == 0 {
		return reportf("no runs: nothing was measured, so nothing holds"), false
	}
	first := runs.Records[0]
	for i, r := range runs.Records {
		if r == nil {
			return reportf("assert: Records[%d] is nil: a run without a record cannot be judged", i), false
		}
		if r.PointHash != first.PointHash {
			bad := reportf("assert: runs of different points: Records[%d] is of %s, Records[0] of %s; judge each point by itself", i, name(r), name(first))
			return bad, false
		}
	}
	if bad, ok := invalid(runs.Records); !ok {
		bad.replaced(runs)
		return bad, false
	}
	for _, r := range runs.Records {
		if finished, failed := fates(r); finished+failed == 0 {
			bad := reportf("no requests: run %d has none in its window that were not aborted, so nothing holds", r.Run+1)
			bad.at = at(runs.Records)
			return bad, false
		}
	}
	return report{}, true
}

// fates counts what became of the window's requests; what the user aborted is
// neither.
func fates(records ...*metric.Record) (finished, failed int) {
	for _, r := range records {
		for _, q := range r.Counted() {
			switch q.Failure {
			case "":
				finished++
			case metric.Aborted:
			default:
				failed++
			}
		}
	}
	return finished, failed
}

// invalid words why runs cannot be trusted. A reason that several runs share
// is told once.
func invalid(records []*metric.Record) (report, bool) {
	bad := 0
	var reasons []string
	of := make(map[string][]int)
	for _, r := range records {
		if r.Valid() {
			continue
		}
		bad++
		for _, p := range r.Problems {
			reason := p.Kind + ": " + p.Text
			if of[reason] == nil {
				reasons = append(reasons, reason)
			}
			of[reason] = append(of[reason], r.Run+1)
		}
	}
	if bad == 0 {
		return report{}, true
	}
	out := reportf("invalid: %d of %s cannot be trusted, so nothing is judged", bad, many(len(records), "run"))
	for _, reason := range reasons {
		out.add(label(of[reason]), "%s", reason)
	}
	out.at = at(records)
	return out, false
}

// label names runs as progress does, from 1: "run 2", "runs 1,3".
func label(runs []int) string {
	text := fmt.Sprint(runs)
	text = strings.ReplaceAll(strings.Trim(text, "[]"), " ", ",")
	if len(runs) == 1 {
		return "run " + text
	}
	return "runs " + text
}

// at says at which load and with what work the runs were made. A limit of
// the client's is always told, since no latency means anything without it.
func at(records []*metric.Record) string {
	r := records[0]
	parts := []string{loop(r)}
	if work := pair(r, "workload"); work != "" {
		parts = append(parts, work)
	}
	requests := 0
	for _, r := range records {
		requests += len(r.Counted())
	}
	size := count(requests / len(records))
	if requests%len(records) != 0 {
		size = "about " + size
	}
	parts = append(parts, fmt.Sprintf("%s of %s requests", many(len(records), "run"), size))
	for _, limit := range []string{"client-limit", "max-in-flight"} {
		if n := pair(r, limit); n != "" {
			parts = append(parts, strings.ReplaceAll(limit, "-", " ")+" "+n)
		}
	}
	return strings.Join(parts, ", ")
}

// pair is one of the point's own words about itself; "" when it has none.
func pair(r *metric.Record, key string) string {
	for _, p := range r.Point {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// name is what a point is called, as it says itself.
func name(r *metric.Record) string {
	if r.PointName != "" {
		return r.PointName
	}
	if r.PointHash != "" {
		return "point " + r.PointHash
	}
	return "an unnamed point"
}

// loop marks a closed loop, so that no line about one can be read as an open
// loop's.
func loop(r *metric.Record) string {
	switch {
	case r.InFlight == 1:
		return "serial"
	case r.InFlight > 1:
		return fmt.Sprintf("closed loop, %d in flight", r.InFlight)
	}
	if load := pair(r, "arrivals"); load != "" {
		return load
	}
	return fmt.Sprintf("open loop, %s req/s", exact(r.Rate))
}

func closed(r *metric.Record) bool { return r.InFlight > 0 }
func serial(r *metric.Record) bool { return r.InFlight == 1 }
