package assert_test

import (
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
