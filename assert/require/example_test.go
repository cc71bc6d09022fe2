package require_test

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
)

// t stands for a test's *testing.T: it prints what a test would.
var t printer

type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }
func (printer) FailNow()                          { fmt.Println("FailNow") }

// measured stands for benchtest.Measure: one run of 40 requests, ten a second,
// each answered in 100 ms.
func measured() *benchtest.Runs {
	r := &metric.Record{Schema: metric.Schema, Test: "TestChat", PointName: "ten", Rate: 10, Virtual: true, From: time.Second, To: 5 * time.Second}
	for i := range 40 {
		due := time.Second + time.Duration(i)*100*time.Millisecond
		r.Requests = append(r.Requests, metric.Timeline{
			Phase: metric.Window, Scheduled: due, Sent: due, FirstToken: due + 50*time.Millisecond, LastToken: due + 100*time.Millisecond,
			Closed: due + 100*time.Millisecond, FirstTokens: 1, OutputTokens: 11, PromptTokens: 100, CachedTokens: -1, AskedPrompt: -1, AskedOutput: 11,
		})
	}
	return &benchtest.Runs{Records: []*metric.Record{r}}
}

var slo = benchtest.SLO{TTFT: 200 * time.Millisecond}

// Beside Errorf, t must be able to stop the test.
func ExampleTestingT() {
	var t require.TestingT = printer{}
	require.Valid(t, nil)
	// Output:
	// no runs: nothing was measured, so nothing holds
	// FailNow
}

func ExampleValid() {
	require.Valid(t, measured())
	// Output:
	// valid: 1 run
	//     at         open loop, 10 req/s, 1 run of 40 requests
}

func ExampleSustained() {
	runs := measured()
	runs.Records[0].InFlight = 64
	require.Sustained(t, runs)
	// Output:
	// assert: Sustained on a closed loop (64 in flight) cannot fail, so it is refused: it sends only when the engine has answered; use an arrival process
	//     at         closed loop, 64 in flight, 1 run of 40 requests
	// FailNow
}

func ExampleGoodput() {
	require.Goodput(t, measured(), slo, 11)
	// Output:
	// goodput 10.00 req/s, want at least 11 req/s (TTFT ≤ 200ms)
	//     interval   9.12 … 10.00 req/s (95 %, Wilson with a design effect of 1.00 within the one run)
	//     attainment 100.0 % of the arrivals met the SLO
	//     requests   40 good of 40
	//     at         open loop, 10 req/s, 1 run of 40 requests
	// FailNow
}

func ExampleAttainment() {
	require.Attainment(t, measured(), slo, 0.99)
	// Output:
	// attainment 100.0 %, at least 99.0 % was asked (TTFT ≤ 200ms)
	//     interval   91.2 % … 100.0 % (95 %, Wilson with a design effect of 1.00 within the one run)
	//     note       the bound lies inside the interval: another set of runs could end on its other side
	//     requests   40 good of 40
	//     at         open loop, 10 req/s, 1 run of 40 requests
}

func ExampleLatency() {
	require.Latency(t, measured(), "p99-ttft-sec", 200*time.Millisecond)
	// Output:
	// p99-ttft-sec, want at most 200ms: no value: p99 of 40 values is their maximum: needs 1,000
	//     next       raise Requests or Runs, or ask for a lower percentile
	//     at         open loop, 10 req/s, 1 run of 40 requests
	// FailNow
}

func ExampleNoRegression() {
	require.NoRegression(t, measured(), regressions.Gate{Margin: 0.05})
	// Output:
	// no baseline, so nothing was compared
	//     looked for testdata/openloop/TestChat/ten@none.bench
	//     record it  go test ./assert/require -run '^TestChat$' -openloop.update
	//     at         open loop, 10 req/s, 1 run of 40 requests
	// FailNow
}

func ExampleNotSlower() {
	candidate, control := measured(), measured()
	control.Records[0].Arm = metric.ArmCandidate
	require.NotSlower(t, candidate, control, regressions.Gate{})
	// Output:
	// assert: NotSlower: the arms are swapped: the candidate comes first, then the control
	// FailNow
}
