package assert_test

import (
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/regressions"
)

var slo = benchtest.SLO{TTFT: 250 * time.Millisecond, TPOT: 40 * time.Millisecond}

// every is each assertion, asked for what good runs give.
var every = map[string]func(assert.TestingT, *benchtest.Runs, ...any) bool{
	"Valid":     assert.Valid,
	"Sustained": assert.Sustained,
	"Goodput": func(t assert.TestingT, runs *benchtest.Runs, m ...any) bool {
		return assert.Goodput(t, runs, slo, 5, m...)
	},
	"Attainment": func(t assert.TestingT, runs *benchtest.Runs, m ...any) bool {
		return assert.Attainment(t, runs, slo, 0.5, m...)
	},
	"Latency": func(t assert.TestingT, runs *benchtest.Runs, m ...any) bool {
		return assert.Latency(t, runs, "p50-ttft-sec", time.Second, m...)
	},
	"NoRegression": func(t assert.TestingT, runs *benchtest.Runs, m ...any) bool {
		return assert.NoRegression(t, runs, regressions.Gate{}, m...)
	},
	"NotSlower": func(t assert.TestingT, runs *benchtest.Runs, m ...any) bool {
		return assert.NotSlower(t, runs, calm.runs(3), regressions.Gate{}, m...)
	},
}

// everyRequirement is the same of package require.
var everyRequirement = map[string]func(require.TestingT, *benchtest.Runs, ...any){
	"Valid":     require.Valid,
	"Sustained": require.Sustained,
	"Goodput": func(t require.TestingT, runs *benchtest.Runs, m ...any) {
		require.Goodput(t, runs, slo, 5, m...)
	},
	"Attainment": func(t require.TestingT, runs *benchtest.Runs, m ...any) {
		require.Attainment(t, runs, slo, 0.5, m...)
	},
	"Latency": func(t require.TestingT, runs *benchtest.Runs, m ...any) {
		require.Latency(t, runs, "p50-ttft-sec", time.Second, m...)
	},
	"NoRegression": func(t require.TestingT, runs *benchtest.Runs, m ...any) {
		require.NoRegression(t, runs, regressions.Gate{}, m...)
	},
	"NotSlower": func(t require.TestingT, runs *benchtest.Runs, m ...any) {
		require.NotSlower(t, runs, calm.runs(3), regressions.Gate{}, m...)
	},
}
