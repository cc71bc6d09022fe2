package regressions

import (
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// Status is a verdict in one word.
type Status string

// The verdicts. Only Pass and Improved are green.
const (
	// Pass: shown not to be worse by the margin.
	Pass Status = "pass"
	// Improved: passes, and is significantly better by at least the margin.
	Improved Status = "improved"
	// Regressed: significantly worse, and by at least the margin.
	Regressed Status = "regressed"
	// Inconclusive: the runs show neither.
	Inconclusive Status = "inconclusive"
	// Invalid: there is nothing to compare, or it cannot be trusted.
	Invalid Status = "invalid"
)

// Green reports whether the status lets a test pass. Nothing but Pass and
// Improved does, the empty status least of all.
func (s Status) Green() bool { return s == Pass || s == Improved }

// Role is what a metric does in a verdict.
type Role string

// The roles.
const (
	// Gated metrics must pass.
	Gated Role = "gated"
	// Watched metrics may say regressed, but need not pass.
	Watched Role = "watched"
	// Guard is the error rate: it may say regressed and needs no proof to pass.
	Guard Role = "guard"
	// Reported metrics moved, and decide nothing.
	Reported Role = "reported"
)

// Summary is a metric in one arm, over the runs that were compared.
type Summary struct {
	// Mean is the geometric mean over runs, or for a rate or a share the
	// arithmetic one; SD the coefficient of variation between runs, or for a
	// rate of failures and attainment the standard deviation.
	Mean, SD float64
	// Runs is the number of runs.
	Runs int
}

// Finding is what was found of one metric.
type Finding struct {
	// Metric is its name, Role what it does in the verdict, and Status what was
	// found; a reported metric has none.
	Metric string
	Role   Role
	Status Status
	// Margin is the change for the worse that is tolerated, relative or, for
	// rates of failures and attainment, absolute.
	Margin float64
	// Baseline and Candidate are the arms, over the runs that were compared.
	Baseline, Candidate Summary
	// Change is (new − old) ÷ old, or new − old where the margin is absolute;
	// Low and High are its 95 % interval.
	Change, Low, High float64
	// Slower is the one-sided p-value of "not worse at all"; Within that of
	// "worse by the margin or more".
	Slower, Within float64
	// MDE is the smallest change for the worse that these runs would have
	// shown at the gate's level with 80 % power; Smallest the smallest that the
	// gate's last look would call regressed with that power at this noise,
	// which is never below the margin.
	MDE, Smallest float64
	// Significant is the smallest change for the worse that would have been
	// significant at the gate's level as measured: what MDE is without power.
	Significant float64
	// Needed is how many runs would decide; zero when they have.
	Needed stat.Needed
	// Resolvable is the smallest margin that the last look would resolve at
	// this noise.
	Resolvable float64
	// Design says which test was used and why.
	Design string

	estimate stat.Estimate
	// matched is the difference of the runs with the same arrivals where the
	// estimate is unpaired; NaN where it is not, or there are none.
	matched float64
	def     metric.Def
	plan    plan
}

// Verdict is the outcome of one look.
type Verdict struct {
	// Status is the verdict in one word.
	Status Status
	// Reason is one sentence: what, by how much. It is the first line of Text
	// without the status.
	Reason string
	// Remedy is what to do about it; empty when nothing is.
	Remedy string
	// Findings are the gated metrics in the order of the gate, then the error
	// rate, then what else moved.
	Findings []Finding
	// NextLook is the number of candidate runs at which to judge again; 0
	// when the verdict is final.
	NextLook int
	// Comparisons is among how many comparisons the rate of false alarms is
	// shared, FalseAlarms that rate and Level the one-sided p-value at which
	// this look may say regressed.
	Comparisons        int
	FalseAlarms, Level float64

	// headline is the index of the finding that the first lines are about; -1
	// for none.
	headline            int
	old                 against
	baseline, candidate side
	at                  string
	design              string
	// builds is how the builds of two arms differ that were measured in turns,
	// changed what else of the engine is not as it was in the baseline;
	// control how the control moved since the baseline.
	builds, changed, control string
	notes                    []string
}

// side is an arm as the text tells of it.
type side struct {
	runs, starts int
	// compared is how many of the runs the headline is about.
	compared int
	recorded time.Time
	commit   string
	virtual  bool
	// remark follows the numbers: "same arrivals".
	remark string
}
