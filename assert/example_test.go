package assert_test

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/regressions"
)

// t stands for a test's *testing.T: it prints what a test would.
var t printer

type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }

// The smallest t is one that can fail; a *testing.T can also log the green
// verdicts.
func ExampleTestingT() {
	var t assert.TestingT = printer{}
	assert.Valid(t, nil)
	// Output: no runs: nothing was measured, so nothing holds
}

func ExampleValid() {
	runs := calm.runs(3) // from benchtest.Measure
	assert.Valid(t, runs)
	// Output:
	// valid: 3 runs
	//     at         even 10/s, chat(100/11), 3 runs of 1,000 requests
}

func ExampleSustained() {
	runs := drowning.runs(3)
	assert.Sustained(t, runs)
	// Output:
	// growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
	//     next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
	//     at         even 10/s, chat(100/11), 3 runs of 1,000 requests
}

func ExampleGoodput() {
	runs := calm.runs(3)
	slo := benchtest.SLO{TTFT: 250 * time.Millisecond, TPOT: 40 * time.Millisecond}
	assert.Goodput(t, runs, slo, 9, "the chat model's promise")
	// Output:
	// goodput 7.54 req/s, want at least 9 req/s (TTFT ≤ 250ms, TPOT ≤ 40ms)
	//     interval   7.33 … 7.74 req/s (95 %, t over 3 runs)
	//     attainment 75.4 % of the arrivals met the SLO
	//     requests   2,261 good of 3,000: 739 missed TTFT
	//     at         even 10/s, chat(100/11), 3 runs of 1,000 requests
	//     message    the chat model's promise
}

func ExampleAttainment() {
	runs := calm.runs(3)
	slo := benchtest.SLO{TTFT: 250 * time.Millisecond}
	assert.Attainment(t, runs, slo, 0.75)
	// Output:
	// attainment 75.4 %, at least 75.0 % was asked (TTFT ≤ 250ms)
	//     interval   73.3 % … 77.4 % (95 %, t over 3 runs)
	//     note       the bound lies inside the interval: another set of runs could end on its other side
	//     requests   2,261 good of 3,000: 739 missed TTFT
	//     at         even 10/s, chat(100/11), 3 runs of 1,000 requests
}

func ExampleLatency() {
	runs := calm.runs(3)
	assert.Latency(t, runs, "p99-ttft-sec", 500*time.Millisecond)
	assert.Latency(t, runs, "output-tok/s", time.Second)
	// Output:
	// p99-ttft-sec 297.5ms, at most 500ms was asked
	//     interval   295.8ms … 299.2ms (95 %, t over 3 runs)
	//     requests   3,000 finished, 0 failed
	//     at         even 10/s, chat(100/11), 3 runs of 1,000 requests
	// assert: Latency: output-tok/s is refused: throughput below saturation is the offered load echoed back
}

// Without a baseline nothing was compared, so the test fails, and says how one
// is recorded.
func ExampleNoRegression() {
	runs := calm.runs(3)
	assert.NoRegression(t, runs, regressions.Gate{Margin: 0.05})
	// Output:
	// no baseline, so nothing was compared
	//     looked for testdata/openloop/TestMadeUp/even-10@none.bench
	//     record it  go test ./assert -run '^TestMadeUp$' -openloop.update
	//     at         even 10/s, chat(100/11), 3 runs of 1,000 requests
}
