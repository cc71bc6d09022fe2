package regressions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// Run is what a comparison needs of one run.
type Run struct {
	// Index decides the arrivals and lengths: run i of any arm replays those of
	// run i of the baseline. Seed checks that it does.
	Index int
	Seed  uint64
	// Start numbers the engine start within the arm; StartID tells starts of
	// different days apart.
	Start   int
	StartID string
	// Time is when the run began, a label.
	Time time.Time
	// Values are the metrics that the run has, by name.
	Values map[string]float64
	// Missing says, for the metrics that the run does not have, why.
	Missing map[string]string
	// Gaps is what the gaps behind its ITL lie between: "tokens", one in every
	// event, or "events", some of which carried several or did not tell; empty
	// is unknown, or that there are none. The two do not compare.
	Gaps string
	// Control is the run of a frozen control that was made in turns with this
	// one, with the same index and seed; nil is none. See Arm.Beside.
	Control *Run
}

// start identifies the engine start of the run.
func (r Run) start() string { return fmt.Sprintf("%d/%s", r.Start, r.StartID) }

// Arm is the runs of one engine at one point, with what a comparison must
// know of them.
type Arm struct {
	// Name is metric.ArmControl or metric.ArmCandidate where two engines were
	// measured in turns; empty else.
	Name string
	// Test and PointName name what was measured, and the baseline's file.
	Test, PointName string
	// Accept is the command that makes these runs the baseline, for the
	// verdict to name. Empty is what follows from Test, for a shell in the
	// package's folder; it does not know build tags or a timeout.
	Accept string
	// Schema is the version of the metrics' formulas.
	Schema int
	// Point is the point as pairs, PointHash its hash: arms compare only when
	// it is equal.
	Point     []metric.Pair
	PointHash string
	// Key is what arms must share (hardware, engine kind, model); Identity all
	// else that is known of the engine, which may differ.
	Key, Identity []metric.Pair
	// ControlIdentity is what is known of the control whose runs these have.
	ControlIdentity []metric.Pair
	// Virtual is true when time was virtual.
	Virtual bool
	// SLO is the objective behind goodput and attainment, in words; empty is
	// none. These two do not compare between arms of different objectives.
	SLO string
	// Cache is how the prefix cache was flushed, as the records say it.
	Cache string
	// Problems are the reasons why runs cannot be trusted; an arm that has one
	// is neither compared nor stored.
	Problems []string
	// Runs are the runs in the order in which they were made.
	Runs []Run
}

// FromRecords makes an arm of the records of one point. metrics are the names
// of the values to take; nil is all that package metric knows. A metric that a
// run does not have is remembered with the reason. Records of different
// points, engines or schemas, no records, and the same run twice are errors.
func FromRecords(records []*metric.Record, metrics []string) (Arm, error) {
	if len(records) == 0 {
		return Arm{}, fmt.Errorf("regressions: no records: nothing was measured")
	}
	if metrics == nil {
		metrics = metric.Names()
	}
	for _, name := range metrics {
		if _, ok := metric.Lookup(name); !ok {
			return Arm{}, fmt.Errorf("regressions: unknown metric %q: see metric.Names", name)
		}
	}
	for i, r := range records {
		if r == nil {
			return Arm{}, fmt.Errorf("regressions: records[%d] is nil", i)
		}
	}
	first := records[0]
	arm := Arm{
		Name: first.Arm, Test: first.Test, PointName: first.PointName, Schema: first.Schema,
		Point: first.Point, PointHash: first.PointHash,
		Key: first.Key, Identity: first.Identity,
		Virtual: first.Virtual, Cache: first.Flush,
	}
	if first.SLO != (metric.SLO{}) {
		arm.SLO = first.SLO.String()
	}
	seen := map[string]int{}
	for i, r := range records {
		if err := sameArm(first, r); err != nil {
			return Arm{}, fmt.Errorf("regressions: records[%d] and records[0] are not of one arm: %w", i, err)
		}
		id := fmt.Sprintf("%d of start %d/%s", r.Run, r.Start, r.StartID)
		if j, twice := seen[id]; twice {
			return Arm{}, fmt.Errorf("regressions: records[%d] and records[%d] are the same run, %s", j, i, id)
		}
		seen[id] = i
		for _, p := range r.Problems {
			text := fmt.Sprintf("run %d is invalid (%s): %s", r.Run+1, p.Kind, p.Text)
			arm.Problems = append(arm.Problems, text)
		}
		arm.Runs = append(arm.Runs, fromRecord(r, metrics))
	}
	return arm, nil
}

func sameArm(a, b *metric.Record) error {
	switch {
	case a.PointHash != b.PointHash:
		return fmt.Errorf("point hash %s and %s: %s", a.PointHash, b.PointHash, differ(a.Point, b.Point))
	case a.Arm != b.Arm:
		return fmt.Errorf("of the arms %q and %q", a.Arm, b.Arm)
	case !slices.Equal(a.Key, b.Key):
		return fmt.Errorf("%s", differ(a.Key, b.Key))
	case a.Schema != b.Schema:
		return fmt.Errorf("schema %d and %d", a.Schema, b.Schema)
	case a.Virtual != b.Virtual:
		return fmt.Errorf("virtual time and a real clock")
	case a.SLO != b.SLO:
		return fmt.Errorf("the objectives %v and %v", a.SLO, b.SLO)
	case a.Flush != b.Flush:
		return fmt.Errorf("cache flush %q and %q", a.Flush, b.Flush)
	}
	return nil
}

func fromRecord(r *metric.Record, metrics []string) Run {
	run := Run{
		Index: r.Run, Seed: r.Seed, Start: r.Start, StartID: r.StartID, Time: r.Time,
		Values: map[string]float64{}, Missing: map[string]string{},
	}
	// Each gap metric of a record that is not yet summarised sorts its gaps
	// anew; on a copy, since the caller's record is not to change.
	summarised := *r
	if slices.ContainsFunc(metrics, func(name string) bool { return strings.HasSuffix(name, "-itl-sec") }) {
		summarised.Requests = slices.Clone(r.Requests)
		summarised.Summarise()
	}
	for _, name := range metrics {
		v, err := summarised.Value(name)
		switch {
		case err != nil:
			run.Missing[name] = reason(err)
		case v == 0 && metricDef(name).Scale == metric.Ratio:
			run.Missing[name] = "it is 0, which has no ratio to anything"
		default:
			run.Values[name] = v
		}
	}
	run.Gaps = gapsOf(r)
	return run
}

func reason(err error) string {
	var absent *metric.Absent
	if errors.As(err, &absent) {
		return absent.Why
	}
	return err.Error()
}

// starts counts the engine starts of the arm.
func (a Arm) starts() int {
	seen := map[string]bool{}
	for _, r := range a.Runs {
		seen[r.start()] = true
	}
	return len(seen)
}

// differ names the pairs by which b differs from a, as "key a → b".
func differ(a, b []metric.Pair) string {
	if out := differences(a, b); out != nil {
		return strings.Join(out, ", ")
	}
	return "the same pairs in another order"
}

func differences(a, b []metric.Pair) []string {
	old, now := values(a), values(b)
	var out []string
	for _, p := range a {
		if v, ok := now[p.Key]; !ok {
			out = append(out, fmt.Sprintf("%s %q → none", p.Key, p.Value))
		} else if v != p.Value {
			out = append(out, fmt.Sprintf("%s %q → %q", p.Key, p.Value, v))
		}
	}
	for _, p := range b {
		if _, ok := old[p.Key]; !ok {
			out = append(out, fmt.Sprintf("%s none → %q", p.Key, p.Value))
		}
	}
	return out
}

func values(pairs []metric.Pair) map[string]string {
	m := map[string]string{}
	for _, p := range pairs {
		m[p.Key] = p.Value
	}
	return m
}
