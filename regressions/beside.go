package regressions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// Beside attaches the runs of a control to those of an arm that were made in
// turns with them: run i of the arm gets the control's run i as its Control,
// and the gate compares what each run is against its control's, so that
// whatever the machine is today is not taken for the engine's. The two must be
// of one point, key, schema, clock and cache state, and each run of the arm
// must have one partner with the same index and seed. What makes the control's
// runs invalid makes the arm's so.
func (a Arm) Beside(control Arm) (Arm, error) {
	if a.Name == metric.ArmControl || control.Name == metric.ArmCandidate {
		return Arm{}, fmt.Errorf("regressions: the arms are swapped: the runs say that they are the %s's, those of the control that they are the %s's", a.Name, control.Name)
	}
	if no := alike(control, a, against{name: "control"}); no != nil && len(a.Problems)+len(control.Problems) == 0 {
		return Arm{}, fmt.Errorf("regressions: runs and control do not belong together: %s", no.reason)
	}
	if a.SLO != control.SLO {
		return Arm{}, fmt.Errorf("regressions: runs and control do not belong together: their SLOs are %q and %q", a.SLO, control.SLO)
	}
	of := map[int]*Run{}
	for i, r := range control.Runs {
		if of[r.Index] != nil {
			return Arm{}, fmt.Errorf("regressions: the control has run %d twice", r.Index)
		}
		of[r.Index] = &control.Runs[i]
	}
	out := a
	out.Runs = slices.Clone(a.Runs)
	for i, r := range out.Runs {
		switch c := of[r.Index]; {
		case c == nil:
			return Arm{}, fmt.Errorf("regressions: run %d has no control run of the same index: make both in turns", r.Index)
		case c.Seed != r.Seed:
			return Arm{}, fmt.Errorf("regressions: run %d has other arrivals than its control run (seeds differ): make both in turns", r.Index)
		default:
			out.Runs[i].Control = c
		}
	}
	out.ControlIdentity = control.Identity
	for _, p := range control.Problems {
		out.Problems = append(slices.Clip(out.Problems), "control "+p)
	}
	return out, nil
}

// beside reports whether every run has its control.
func (a Arm) beside() bool {
	return len(a.Runs) > 0 && !slices.ContainsFunc(a.Runs, func(r Run) bool { return r.Control == nil })
}

// control is the arm of the control's runs.
func (a Arm) control() Arm {
	c := a
	c.Name, c.Identity, c.ControlIdentity, c.Runs = metric.ArmControl, a.ControlIdentity, nil, nil
	for _, r := range a.Runs {
		if r.Control != nil {
			c.Runs = append(c.Runs, *r.Control)
		}
	}
	return c
}

// frozenKeys say which build an engine is, where it is known.
var frozenKeys = []string{"engine", "engine-version", "model", "model-revision"}

// frozen checks that the control of both arms is one build: a control that
// changes hides what it should show.
func frozen(base, cand Arm) *refusal {
	old, now := values(base.ControlIdentity), values(cand.ControlIdentity)
	var out []string
	for _, k := range frozenKeys {
		if a, b := old[k], now[k]; a != b && a != "" && b != "" {
			out = append(out, fmt.Sprintf("%s %q → %q", k, a, b))
		}
	}
	if out == nil {
		return nil
	}
	return refuse("measure beside the control of the baseline, or record a baseline beside the new one: "+cand.accept(),
		"the control is another build than the baseline's: %s; a control must be frozen", strings.Join(out, ", "))
}

// against is what a candidate is compared with, in words.
type against struct {
	// name is "baseline" or "control", accept the command that makes the
	// candidate's runs the baseline.
	name, accept string
}

func (a against) String() string { return "the " + a.name }

func (a against) control() bool { return a.name == "control" }

// renew is how to have another one, after what it is to mend.
func (a against) renew(before string) string {
	if a.control() {
		return "measure both builds the same way, in turns"
	}
	return before + a.accept
}

// relative are the samples of runs against those of their controls. Where the
// control had fewer starts than the runs, its start is what they share.
func relative(samples, controls []sample) []sample {
	out := slices.Clone(samples)
	fewer := len(byStart(controls)) < len(byStart(samples))
	for i, c := range controls {
		out[i].x -= c.x
		if fewer {
			out[i].start = c.start
		}
	}
	return out
}
