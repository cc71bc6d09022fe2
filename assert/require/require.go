// Package require holds the assertions of package assert for which there is
// no point in going on: where one fails, it stops the test. It reads best
// before those of assert, as in require.Valid.
package require

import (
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/regressions"
)

// TestingT is what a requirement needs of a *testing.T: assert.TestingT and
// the means to stop.
type TestingT interface {
	assert.TestingT
	FailNow()
}

type tHelper interface{ Helper() }

// Valid requires that the runs can be trusted: it is assert.Valid, and stops
// the test where that fails.
func Valid(t TestingT, runs *benchtest.Runs, msgAndArgs ...any) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if !assert.Valid(t, runs, msgAndArgs...) {
		t.FailNow()
	}
}

// Sustained requires that the queue of an open loop does not grow: it is
// assert.Sustained, and stops the test where that fails.
func Sustained(t TestingT, runs *benchtest.Runs, msgAndArgs ...any) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if !assert.Sustained(t, runs, msgAndArgs...) {
		t.FailNow()
	}
}

// Goodput requires that at least so many requests a second met the SLO: it is
// assert.Goodput, and stops the test where that fails.
func Goodput(t TestingT, runs *benchtest.Runs, slo benchtest.SLO, atLeast float64, msgAndArgs ...any) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if !assert.Goodput(t, runs, slo, atLeast, msgAndArgs...) {
		t.FailNow()
	}
}

// Attainment requires that at least this share of all arrivals met the SLO: it
// is assert.Attainment, and stops the test where that fails.
func Attainment(t TestingT, runs *benchtest.Runs, slo benchtest.SLO, atLeast float64, msgAndArgs ...any) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if !assert.Attainment(t, runs, slo, atLeast, msgAndArgs...) {
		t.FailNow()
	}
}

// Latency requires that a latency is at most limit: it is assert.Latency, and
// stops the test where that fails.
func Latency(t TestingT, runs *benchtest.Runs, metric string, limit time.Duration, msgAndArgs ...any) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if !assert.Latency(t, runs, metric, limit, msgAndArgs...) {
		t.FailNow()
	}
}

// NoRegression requires that the runs are not slower than the stored baseline:
// it is assert.NoRegression, and stops the test where that fails.
func NoRegression(t TestingT, runs *benchtest.Runs, gate regressions.Gate, msgAndArgs ...any) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if !assert.NoRegression(t, runs, gate, msgAndArgs...) {
		t.FailNow()
	}
}

// NotSlower requires that the candidate is not slower than the control: it is assert.NotSlower, and stops the test
// where that fails.
func NotSlower(t TestingT, candidate, control *benchtest.Runs, gate regressions.Gate, msgAndArgs ...any) {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if !assert.NotSlower(t, candidate, control, gate, msgAndArgs...) {
		t.FailNow()
	}
}
