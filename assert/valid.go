package assert

import (
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// Valid asserts that the runs can be trusted: there are some, they are of one
// point, and none has a problem: a client that lagged, a cache warmer than
// declared, errors above the limit, and whatever else the record lists. It is
// the assertion to make first, in its require form; every other one fails on
// such runs too.
func Valid(t TestingT, runs *benchtest.Runs, msgAndArgs ...any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if bad, ok := check(runs); !ok {
		return fail(t, bad, msgAndArgs)
	}
	good := reportf("valid: %s", many(len(runs.Records), "run"))
	for _, r := range runs.Records {
		for _, w := range r.Warnings {
			good.add(label([]int{r.Run}), "warning: %s", w)
		}
	}
	replaced(&good, runs)
	good.at = at(runs.Records)
	return pass(t, good)
}

// replaced tells of the runs that were made again, and why: it is no secret
// that they were set aside.
func replaced(out *report, runs *benchtest.Runs) {
	tell := func(arm string, records []*metric.Record) {
		for _, r := range records {
			why := "it could not be trusted"
			if len(r.Problems) > 0 {
				why = r.Problems[0].Kind + ": " + r.Problems[0].Text
			}
			out.add("made again", "%srun %d, whose first try is set aside: %s", arm, r.Run+1, why)
		}
	}
	tell("", runs.Replaced)
	if runs.Control != nil {
		tell("control ", runs.Control.Replaced)
	}
}
