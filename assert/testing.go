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

func helper(t TestingT) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
}

// logf logs what must be told although nothing failed. A t that cannot log
// does not swallow it.
func logf(t TestingT, text string) {
	helper(t)
	if l, ok := t.(interface{ Logf(string, ...any) }); ok {
		l.Logf("%s", text)
		return
	}
	fmt.Fprintln(os.Stderr, text)
}

func fail(t TestingT, r report, msgAndArgs []any) bool {
	helper(t)
	r.said = message(msgAndArgs)
	t.Errorf("%s", r)
	return false
}

func pass(t TestingT, r report) bool {
	helper(t)
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
