package assert_test

import (
	"strings"
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/regressions"
)

func TestNoRegressionIsRefusedWhereItCannotTell(t *testing.T) {
	closedPoint := small
	closedPoint.Arrivals, closedPoint.Closed = nil, benchtest.Closed{InFlight: 8}
	for _, row := range []struct {
		name  string
		point benchtest.Point
		gate  regressions.Gate
		text  string
	}{
		{"throughput of an open loop", small, regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-tpot-sec"}, {Name: "output-tok/s"}}}, `error: assert: Gate.Metrics: output-tok/s on an open loop is refused: throughput below saturation is the offered load echoed back
    next       gate a latency here, or the throughput of a closed loop
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"a percentile of too few requests", small, regressions.Gate{Metrics: []regressions.Metric{{Name: "p99-ttft-sec", Margin: 0.2}, {Name: "p50-tpot-sec"}}}, `error: assert: Gate.Metrics: p99-ttft-sec is refused in runs of this size: p99 of 200 values: needs 1,000 in each run, since runs are compared and not pooled
    next       raise Requests (or Window), or gate a lower percentile
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"everything that is refused at once", small, regressions.Gate{Metrics: []regressions.Metric{{Name: "completed-req/s"}, {Name: "p50-tpot-sec"}, {Name: "p99-e2e-sec"}, {Name: "p999-e2e-sec"}}}, `error: assert: Gate.Metrics: completed-req/s on an open loop is refused: throughput below saturation is the offered load echoed back
assert: Gate.Metrics: p99-e2e-sec is refused in runs of this size: p99 of 200 values: needs 1,000 in each run, since runs are compared and not pooled
assert: Gate.Metrics: p999-e2e-sec is refused in runs of this size: p99.9 of 200 values is their maximum: needs 10,000 in each run, since runs are compared and not pooled
    next       gate a latency here, or the throughput of a closed loop
    next       raise Requests (or Window), or gate a lower percentile
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"latencies of a closed loop", closedPoint, regressions.Gate{}, `error: NoRegression is refused on a closed loop (8 in flight): it turns a slowdown into a smaller one of throughput and hides the queue
    next       use an arrival process or one in flight, or name the metrics in Gate.Metrics if a closed loop is what you mean
    at         closed loop, 8 in flight, fixed(20/10), 3 runs of 200 requests
`},
		{"a gate that is none", small, regressions.Gate{Margin: -1, Looks: []int{5, 3}}, `error: regressions: Gate.Margin must be from 0 (the default, 0.05) to 1, got -1
regressions: Gate.Looks: [5 3] do not increase
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			afresh(t)
			var r recorder
			runs := measured(t, &toy{seed: 1}, row.point, "TestDecode")
			expect(t, &r, assert.NoRegression(&r, runs, row.gate), false, row.text)
		})
	}
}

// Serial has no queue to hide, and a closed loop is judged by the metrics that
// are named.
func TestNoRegressionOfLoopsThatAreMeant(t *testing.T) {
	for _, row := range []struct {
		name     string
		inFlight int
		gate     regressions.Gate
	}{
		{"serial", 1, regressions.Gate{}},
		{"a closed loop's throughput by name", 8, regressions.Gate{Metrics: []regressions.Metric{{Name: "output-tok/s"}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			afresh(t)
			p := small
			p.Arrivals, p.Closed = nil, benchtest.Closed{InFlight: row.inFlight}
			recordBaseline(t, &toy{noise: 0.003, seed: 1}, p, row.gate)
			var r recorder
			if !assert.NoRegression(&r, measured(t, &toy{noise: 0.003, seed: 2}, p, "TestDecode"), row.gate) {
				t.Errorf("said\n%s", r.said())
			}
			r = recorder{}
			if assert.NoRegression(&r, measured(t, &toy{noise: 0.003, seed: 2, slow: 1.2}, p, "TestDecode"), row.gate) {
				t.Errorf("a slowdown passed:\n%s", r.said())
			}
		})
	}
}

// What can never be judged is not recorded either, or the refusal would come
// after the baseline's engine time.
func TestABaselineOfWhatIsRefusedIsNotRecorded(t *testing.T) {
	afresh(t)
	t.Setenv("OPENLOOP_UPDATE", "1")
	runs := measured(t, &toy{seed: 1}, small, "TestDecode")
	var r recorder
	gate := regressions.Gate{Metrics: []regressions.Metric{{Name: "p99-ttft-sec"}}}
	if assert.NoRegression(&r, runs, gate) || head(&r, 5) != "error: assert: Gate.Metrics: p99-ttft-sec is" {
		t.Errorf("said\n%s", r.said())
	}
	if len(runs.Records) != 3 || len(files(t)) != 0 {
		t.Errorf("%d runs and %d files, want the 3 there were and none", len(runs.Records), len(files(t)))
	}
}

// Where the capacity is known, a verdict says which slowdown of the engine the
// margin is.
func TestAVerdictSaysWhatItsMarginStandsFor(t *testing.T) {
	tpot := func(margin float64) regressions.Gate {
		return regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-tpot-sec", Margin: margin}}}
	}
	for _, row := range []struct {
		name     string
		capacity float64
		inFlight int
		gate     regressions.Gate
		want     string // "" for none
	}{
		{"a third", 30, 0, regressions.Gate{}, "at 0.31 of the capacity a margin of 5 % on p50-tpot-sec is a decode about 4.4 % slower (by the embedded engine's loads)"},
		{"a margin of the metric's own", 30, 0, tpot(0.1), "at 0.31 of the capacity a margin of 10 % on p50-tpot-sec is a decode about 8.8 % slower (by the embedded engine's loads)"},
		{"near the knee", 12, 0, regressions.Gate{Margin: 0.08}, "at 0.77 of the capacity a margin of 8 % on p50-tpot-sec is a decode about 4.8 % slower (by the embedded engine's loads)"},
		{"beyond what is known", 9.5, 0, regressions.Gate{}, ""},
		{"an unknown capacity", 0, 0, regressions.Gate{}, ""},
		{"another metric", 30, 0, regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-ttft-sec"}}}, ""},
		{"serial", 30, 1, regressions.Gate{}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			afresh(t)
			p := small
			p.Capacity, p.Settle = row.capacity, 60
			if row.inFlight > 0 {
				p.Arrivals, p.Closed = nil, benchtest.Closed{InFlight: row.inFlight}
			}
			recordBaseline(t, &toy{noise: 0.003, seed: 1}, p, row.gate)
			var r recorder
			if !assert.NoRegression(&r, measured(t, &toy{noise: 0.003, seed: 2}, p, "TestDecode"), row.gate) {
				t.Errorf("said\n%s", r.said())
			}
			got := ""
			for line := range strings.Lines(r.said()) {
				if text, ok := strings.CutPrefix(line, "    stands for "); ok {
					got = strings.TrimSpace(text)
				}
			}
			if got != row.want {
				t.Errorf("said %q, want %q in\n%s", got, row.want, r.said())
			}
		})
	}
}

func TestWithoutANameThereIsNoFile(t *testing.T) {
	afresh(t)
	runs := measured(t, &toy{seed: 1}, small, "")
	var r recorder
	expect(t, &r, assert.NoRegression(&r, runs, regressions.Gate{}), false, `error: assert: NoRegression files its baseline under the test's name, and neither the runs nor t have one: measure with benchtest.Measure, or set benchtest.Options.Test
`)
	r = recorder{name: "TestDecode"}
	if assert.NoRegression(&r, runs, regressions.Gate{}); head(&r, 3) != "error: no baseline," {
		t.Errorf("the name of t was not taken:\n%s", r.said())
	}
}

// The configuration's problems come first: nothing is judged with half of it.
func TestAConfigurationThatIsWrongFails(t *testing.T) {
	baseline(t)
	t.Setenv("OPENLOOP_UPDATE", "yes")
	var r recorder
	runs := measured(t, &toy{seed: 1}, small, "TestDecode")
	expect(t, &r, assert.NoRegression(&r, runs, regressions.Gate{}), false, `error: ci: OPENLOOP_UPDATE is "yes": only "1" is on, and "0", "false" or nothing is off; set it to 1 or unset it
`)
}
