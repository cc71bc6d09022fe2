package assert

import (
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/regressions"
)

// NotSlower asserts that the candidate is not slower than the control by the
// gate's margin or more, and no worse in errors. Both are builds that were
// measured in turns with the same work, by benchtest.MeasureBoth: the
// strongest comparison there is, since whatever the machine is today is in
// both arms. Nothing is stored, and no baseline is needed.
//
// While a look is unclear it makes more runs of both, in turns, up to the
// gate's last look. Where Gate.Gates is 0 this counts as one gate beside those
// of the module's baselines: declare it where a job has several.
//
// A control whose queue grows fails, since nothing can be compared with it; a
// candidate's that grows where the control's did not is a regression. Built
// with -race, runs on a real clock are not compared.
func NotSlower(t TestingT, candidate, control *benchtest.Runs, gate regressions.Gate, msgAndArgs ...any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	config, err := ci.Load()
	if err != nil {
		return fail(t, reportf("%v", err), msgAndArgs)
	}
	if err := gate.Validate(); err != nil {
		return fail(t, reportf("%v", err), msgAndArgs)
	}
	if bad, ok := checkPair(candidate, control); !ok {
		return fail(t, bad, msgAndArgs)
	}
	g := gating{t: t, config: config, runs: candidate, control: control, gate: gate, name: "NotSlower", held: "the control holds"}
	if bad, ok := g.gateable(); !ok {
		return fail(t, bad, msgAndArgs)
	}
	if r, raced := g.raced(ci.Race); raced {
		return pass(t, r)
	}
	if err := g.countGates(1); err != nil {
		return fail(t, reportf("%v", err), msgAndArgs)
	}
	return g.judge(func(a regressions.Arm) regressions.Verdict {
		b, err := regressions.FromRecords(control.Records, nil)
		if err != nil {
			b = regressions.Arm{Problems: []string{err.Error()}}
		}
		return regressions.JudgeBoth(b, a, g.gate)
	}, msgAndArgs)
}

// checkPair refuses arms that cannot be compared whatever they hold.
func checkPair(candidate, control *benchtest.Runs) (report, bool) {
	if bad, ok := check(candidate); !ok {
		return bad, false
	}
	if bad, ok := checkArm(control); !ok {
		bad.head = "of the control: " + bad.head
		return bad, false
	}
	switch {
	case candidate == control:
		return reportf("assert: NotSlower: candidate and control are the same runs: nothing would be compared"), false
	case candidate.Records[0].Arm == metric.ArmControl || control.Records[0].Arm == metric.ArmCandidate:
		return reportf("assert: NotSlower: the arms are swapped: the candidate comes first, then the control"), false
	}
	return report{}, true
}

// armOf is the runs as an arm, beside their control where they have one.
func armOf(runs *benchtest.Runs) (regressions.Arm, error) {
	arm, err := regressions.FromRecords(runs.Records, nil)
	if err != nil {
		return arm, err
	}
	arm.Accept = updateCommand(arm.Test, runs.Records)
	if runs.Control == nil {
		return arm, nil
	}
	control, err := regressions.FromRecords(runs.Control.Records, nil)
	if err != nil {
		return arm, err
	}
	return arm.Beside(control)
}

// extend makes runs up to the next look, of both arms where there are two.
func (g *gating) extend(n int) error {
	err := g.runs.ExtendOver(testContext(g.t), n, candidateStarts)
	if g.control == nil || err != nil {
		return err
	}
	// Arms that were made in turns have gone on together.
	return g.control.ExtendOver(testContext(g.t), n, candidateStarts)
}

// controlHolds refuses a control whose queue grows or that cannot be trusted.
func (g *gating) controlHolds() (report, bool) {
	if g.control == nil {
		return report{}, true
	}
	q := queueOf(g.control.Records)
	if q.State != steady.Growing {
		return report{}, true
	}
	bad := growing(q, g.control.Records)
	bad.head = "invalid: the queue of the control grows, so nothing can be compared with it: " + bad.head
	return bad, false
}
