package assert

import (
	"context"
	"fmt"
	"os"
)

// TestingT is what an assertion needs of a *testing.T. What else it has is
// found by type assertion: Helper, Logf for green verdicts, Name and Context
// for NoRegression, Skip for verdicts that are to be skipped.
type TestingT interface {
	Errorf(format string, args ...any)
}

// tHelper is asked for by every function on the way to t, in its own body:
// Helper marks the function that calls it, so a function for this would mark
// but itself.
type tHelper interface{ Helper() }

// logf logs what must be told although nothing failed. A t that cannot log
// does not swallow it.
func logf(t TestingT, text string) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if l, ok := t.(interface{ Logf(string, ...any) }); ok {
		l.Logf("%s", text)
		return
	}
	fmt.Fprintln(os.Stderr, text)
}

func fail(t TestingT, r report, msgAndArgs []any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	r.said = message(msgAndArgs)
	t.Errorf("%s", r)
	return false
}

func pass(t TestingT, r report) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	logf(t, r.String())
	return true
}

func testName(t TestingT) string {
	if n, ok := t.(interface{ Name() string }); ok {
		return n.Name()
	}
	return ""
}

func testContext(t TestingT) context.Context {
	if c, ok := t.(interface{ Context() context.Context }); ok {
		return c.Context()
	}
	return context.Background()
}

// message is the caller's own words, as testify reads them: one string, one
// value of any kind, or a format and its arguments.
func message(msgAndArgs []any) string {
	switch len(msgAndArgs) {
	case 0:
		return ""
	case 1:
		if s, ok := msgAndArgs[0].(string); ok {
			return s
		}
		return fmt.Sprintf("%+v", msgAndArgs[0])
	}
	format, ok := msgAndArgs[0].(string)
	if !ok {
		return fmt.Sprint(msgAndArgs...)
	}
	return fmt.Sprintf(format, msgAndArgs[1:]...)
}
