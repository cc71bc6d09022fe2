package benchtest

import (
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// newRecord is the record of a run that has not begun.
func (s *session) newRecord(planned PlannedRun) *metric.Record {
	p := s.plan.Point
	r := &metric.Record{
		Schema: metric.Schema,
		Test:   s.options.Test, PointName: p.Name,
		Point: s.pairs, PointHash: s.plan.Hash,
		Arm: s.arm, Run: planned.Index, Start: planned.Start, StartID: s.start.id, Seed: planned.Seed,
		Virtual: s.virtual, InFlight: p.Closed.InFlight, Capacity: p.Capacity, SLO: p.SLO,
	}
	r.Warnings = append(append(r.Warnings, s.foreseen...), s.start.warnings...)
	s.describe(r)
	return r
}

// fill writes what a load came to into its record.
func (s *session) fill(r *metric.Record, out outcome) {
	r.Time, r.From, r.To = out.origin.Round(0).UTC(), out.from, out.to
	r.Requests, r.Probes = s.lines(out.flights), s.lines(out.probes)
	settle := 0
	var due []time.Duration
	for _, f := range out.flights {
		switch f.line.Phase {
		case metric.Settle:
			settle++
		case metric.Window:
			due = append(due, f.line.Scheduled)
		}
	}
	if out.to == 0 {
		// The window never closed: it holds what it holds.
		r.To = due[len(due)-1] + 1
		addProblem(r, kindCut, "the run was cut short in its window, after %d requests: %v", len(due), reason(out.cut))
	} else if out.cut != nil {
		addProblem(r, kindCut, "the run was cut short before its last requests had ended: %v", reason(out.cut))
	}
	if r.InFlight == 0 {
		r.Rate = float64(len(due)) / (r.To - r.From).Seconds()
		r.GapCV2 = arrival.GapCV2(append(due, r.To))
	}
	r.Counters = counted(out.edges[0], out.edges[1])
	s.client(r, out)
	recordDevices(r, out.edges[1])
	_, r.CacheProof = cachedShare(r)
	s.happened(r, out)
	if out.bounded != "" {
		r.Warnings = append(r.Warnings, out.bounded)
	}
	if s.plan.Point.Settle == 0 && r.InFlight != 1 {
		r.Warnings = append(r.Warnings, "no settle: the window begins with an empty queue and measures how it fills")
	} else {
		s.longEnough(r, "Settle", settle, out.flights[:settle])
	}
}

// lines are the timelines of flights; nil is none.
func (s *session) lines(flights []*flight) []metric.Timeline {
	var lines []metric.Timeline
	for _, f := range flights {
		lines = append(lines, f.line)
		if s.virtual {
			// Which of two connections that were freed at one instant is the
			// older is chance, and so is which of them idles out.
			lines[len(lines)-1].NewConnection = false
			lines[len(lines)-1].Connect = 0
		}
	}
	return lines
}

// reason is why a load was cut for a cut in one line, without a stack.
func reason(cut error) string {
	if cut == nil {
		return "the arrivals ended"
	}
	return firstLine(cut.Error())
}

// happened adds the problems that no timeline shows.
func (s *session) happened(r *metric.Record, out outcome) {
	s.stuck(r, out)
	for _, e := range out.edges {
		if e.err != nil {
			r.Warnings = append(r.Warnings, "the engine's counters could not be read: "+firstLine(e.err.Error()))
		}
		if now := e.counters.Instance; now != "" && s.start.instance != "" && now != s.start.instance {
			addProblem(r, kindRestarted, "the engine has restarted during the run (instance %s, was %s): find out why in its log; or several servers answer at this address: attach to one", now, s.start.instance)
			s.start.instance = now
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
