package assert

import "github.com/openloop-go/openloop/benchtest"

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
			good.add(label([]int{r.Run + 1}), "warning: %s", w)
		}
	}
	good.replaced(runs)
	good.at = at(runs.Records)
	return pass(t, good)
}
