package assert_test

import (
	"math"
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestGoodput(t *testing.T) {
	for _, row := range []struct {
		name    string
		runs    *benchtest.Runs
		atLeast float64
		holds   bool
		text    string
	}{
		{"holds", calm.runs(3), 7, true, `log: goodput 7.54 req/s, at least 7 req/s was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   7.33 … 7.74 req/s (95 %, t over 3 runs)
    attainment 75.4 % of the arrivals met the SLO
    requests   2,261 good of 3,000: 739 missed TTFT
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"does not hold", calm.runs(3), 9, false, `error: goodput 7.54 req/s, want at least 9 req/s (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   7.33 … 7.74 req/s (95 %, t over 3 runs)
    attainment 75.4 % of the arrivals met the SLO
    requests   2,261 good of 3,000: 739 missed TTFT
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"the bound lies inside the interval", calm.runs(3), 7.5, true, `log: goodput 7.54 req/s, at least 7.5 req/s was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   7.33 … 7.74 req/s (95 %, t over 3 runs)
    note       the bound lies inside the interval: another set of runs could end on its other side
    attainment 75.4 % of the arrivals met the SLO
    requests   2,261 good of 3,000: 739 missed TTFT
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"one run has the interval of its attainment", calm.runs(1), 7, true, `log: goodput 7.50 req/s, at least 7 req/s was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   7.18 … 7.80 req/s (95 %, Wilson with a design effect of 1.00 within the one run)
    attainment 75.0 % of the arrivals met the SLO
    requests   750 good of 1,000: 250 missed TTFT
    at         even 10/s, chat(100/11), 1 run of 1,000 requests
`},
		{"what failed is not good", load{n: 1000, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.1,
			each: failing("refused", func(i int) bool { return i%4 == 3 })}.runs(2), 8, false, `error: goodput 7.50 req/s, want at least 8 req/s (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   7.27 … 7.71 req/s (95 %, Wilson with a design effect of 1.00)
    attainment 75.0 % of the arrivals met the SLO
    requests   1,500 good of 2,000: 500 refused
    at         even 10/s, chat(100/11), 2 runs of 1,000 requests
`},
		{"all good in every run", load{n: 1000, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.1}.runs(2), 9.5, true, `log: goodput 10.00 req/s, at least 9.5 req/s was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   9.97 … 10.00 req/s (95 %, Wilson with a design effect of 1.00)
    attainment 100.0 % of the arrivals met the SLO
    requests   2,000 good of 2,000
    at         even 10/s, chat(100/11), 2 runs of 1,000 requests
`},
		{"a hair below the bound is below it", load{n: 1000, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.1,
			each: failing("refused", func(i int) bool { return i == 500 })}.runs(1), 9.99000001, false, `error: goodput 9.99 req/s, want at least 9.99000001 req/s (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   9.93 … 10.00 req/s (95 %, Wilson with a design effect of 1.00 within the one run)
    note       the bound lies inside the interval: another set of runs could end on its other side
    attainment 99.9 % of the arrivals met the SLO
    requests   999 good of 1,000: 1 refused
    at         even 10/s, chat(100/11), 1 run of 1,000 requests
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r recorder
			expect(t, &r, assert.Goodput(&r, row.runs, slo, row.atLeast), row.holds, row.text)
		})
	}
}

// A bound that holds on a queue that grows holds because the run was short.
func TestGoodputOfAGrowingQueueNeverHolds(t *testing.T) {
	generous := benchtest.SLO{E2E: time.Hour}
	var r recorder
	expect(t, &r, assert.Goodput(&r, drowning.runs(3), generous, 1), false, `error: goodput is refused: the bound holds only because the run was short: the queue grows
    interval   9.98 … 10.00 req/s (95 %, Wilson with a design effect of 1.00)
    attainment 100.0 % of the arrivals met the SLO
    requests   3,000 good of 3,000
    queue      growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`)
	r = recorder{}
	expect(t, &r, assert.Attainment(&r, drowning.runs(3), generous, 0.5), false, `error: attainment is refused: the bound holds only because the run was short: the queue grows
    interval   99.8 % … 100.0 % (95 %, Wilson with a design effect of 1.00)
    requests   3,000 good of 3,000
    queue      growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`)
	r = recorder{}
	expect(t, &r, assert.Goodput(&r, drowning.runs(3), slo, 9), false, `error: goodput 0.20 req/s, want at least 9 req/s (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   0.18 … 0.22 req/s (95 %, t over 3 runs)
    attainment 2.0 % of the arrivals met the SLO
    requests   60 good of 3,000: 2,940 missed TTFT
    queue      growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`)
}

// With requests held back on this side, what was served is no capacity.
func TestGoodputOfAQueueOnThisSide(t *testing.T) {
	var r recorder
	expect(t, &r, assert.Attainment(&r, drowning.behind(4, 100).runs(3), benchtest.SLO{E2E: time.Hour}, 0.5), false, `error: attainment is refused: the bound holds only because the run was short: the queue grows
    interval   99.8 % … 100.0 % (95 %, Wilson with a design effect of 1.00)
    requests   3,000 good of 3,000
    queue      growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over what 4 in flight come to for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests, client limit 4
`)
}

func TestAttainment(t *testing.T) {
	for _, row := range []struct {
		name    string
		runs    *benchtest.Runs
		atLeast float64
		holds   bool
		text    string
	}{
		{"holds over runs", calm.runs(3), 0.7, true, `log: attainment 75.4 %, at least 70.0 % was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   73.3 % … 77.4 % (95 %, t over 3 runs)
    requests   2,261 good of 3,000: 739 missed TTFT
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"does not hold", calm.runs(3), 0.99, false, `error: attainment 75.4 %, want at least 99.0 % (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   73.3 % … 77.4 % (95 %, t over 3 runs)
    requests   2,261 good of 3,000: 739 missed TTFT
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"one run", calm.runs(1), 0.7, true, `log: attainment 75.0 %, at least 70.0 % was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   71.8 % … 78.0 % (95 %, Wilson with a design effect of 1.00 within the one run)
    requests   750 good of 1,000: 250 missed TTFT
    at         even 10/s, chat(100/11), 1 run of 1,000 requests
`},
		{"what the user aborted is no arrival", load{n: 1000, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.1,
			each: failing(metric.Aborted, func(i int) bool { return i >= 990 })}.runs(2), 1, true, `log: attainment 100.0 %, at least 100.0 % was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   99.7 % … 100.0 % (95 %, Wilson with a design effect of 1.00)
    requests   1,980 good of 1,980
    at         even 10/s, chat(100/11), 2 runs of 1,000 requests
`},
		{"six of nine, as the case M12 has it", load{n: 10, rate: 10, ttft: 100 * time.Millisecond, tpot: time.Millisecond,
			each: func(i int, q *metric.Timeline) {
				switch i {
				case 2, 5:
					q.FirstToken += 500 * time.Millisecond
					q.LastToken += 500 * time.Millisecond
				case 7:
					failing("reset", func(int) bool { return true })(i, q)
				case 9:
					failing(metric.Aborted, func(int) bool { return true })(i, q)
				}
			}}.runs(1), 0.7, false, `error: attainment 66.7 %, want at least 70.0 % (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   35.4 % … 87.9 % (95 %, Wilson with a design effect of 1.00 within the one run)
    note       the bound lies inside the interval: another set of runs could end on its other side
    requests   6 good of 9: 2 missed TTFT, 1 reset
    queue      stability cannot be judged: steady: 10 arrivals in a window of 1s: the verdict needs at least 20
    at         even 10/s, chat(100/11), 1 run of 10 requests
`},
		{"serial is allowed", load{n: 300, rate: 2, ttft: 100 * time.Millisecond, tpot: time.Millisecond, spread: 0.2, inFlight: 1}.runs(3), 0.9, true, `log: attainment 100.0 %, at least 90.0 % was asked (TTFT ≤ 250ms, TPOT ≤ 40ms)
    interval   99.4 % … 100.0 % (95 %, Wilson with a design effect of 1.00)
    requests   900 good of 900
    at         serial, chat(100/11), 3 runs of 300 requests
`},
		{"a closed loop is not", load{n: 300, rate: 2, ttft: 100 * time.Millisecond, tpot: time.Millisecond, inFlight: 64}.runs(3), 0.9, false, `error: assert: Attainment on a closed loop (64 in flight) is refused: it waits for the engine before it sends, so the queue that users stand in never forms; use an arrival process
    at         closed loop, 64 in flight, chat(100/11), 3 runs of 300 requests
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r recorder
			expect(t, &r, assert.Attainment(&r, row.runs, slo, row.atLeast), row.holds, row.text)
		})
	}
}

func TestABoundThatCannotFailIsRefused(t *testing.T) {
	for _, row := range []struct {
		name string
		ask  func(*recorder) bool
		text string
	}{
		{"zero", func(r *recorder) bool { return assert.Goodput(r, calm.runs(1), slo, 0) },
			"error: assert: Goodput: atLeast must be a positive number, got 0 req/s: a bound that cannot fail asserts nothing\n"},
		{"negative", func(r *recorder) bool { return assert.Attainment(r, calm.runs(1), slo, -0.5) },
			"error: assert: Attainment: atLeast must be a positive number, got -0.5: a bound that cannot fail asserts nothing\n"},
		{"not a number", func(r *recorder) bool { return assert.Goodput(r, calm.runs(1), slo, math.NaN()) },
			"error: assert: Goodput: atLeast must be a positive number, got NaN req/s: a bound that cannot fail asserts nothing\n"},
		{"infinite", func(r *recorder) bool { return assert.Goodput(r, calm.runs(1), slo, math.Inf(1)) },
			"error: assert: Goodput: atLeast must be a positive number, got +Inf req/s: a bound that cannot fail asserts nothing\n"},
		{"a percentage for a share", func(r *recorder) bool { return assert.Attainment(r, calm.runs(1), slo, 99) },
			"error: assert: Attainment atLeast must be a share from 0 to 1, got 99: 99 % is 0.99\n"},
		{"no limit at all", func(r *recorder) bool { return assert.Goodput(r, calm.runs(1), benchtest.SLO{}, 0) },
			"error: assert: Goodput: metric: SLO has no limit: set at least one of TTFT, TPOT, ITL and E2E; atLeast must be a positive number, got 0 req/s: a bound that cannot fail asserts nothing\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r recorder
			expect(t, &r, row.ask(&r), false, row.text)
		})
	}
}

func TestGoodputIsRefusedWhereThereIsNone(t *testing.T) {
	closed := load{n: 300, rate: 2, ttft: 100 * time.Millisecond, tpot: time.Millisecond, inFlight: 1}
	var r recorder
	expect(t, &r, assert.Goodput(&r, closed.runs(3), slo, 1), false,
		`error: assert: Goodput on a closed loop (1 in flight) is refused: nothing arrives by a schedule there, so the rate is the engine's own answer; use an arrival process
    at         serial, chat(100/11), 3 runs of 300 requests
`)
	uncounted := calm
	uncounted.each = func(i int, q *metric.Timeline) { q.OutputTokens = -1 }
	r = recorder{}
	expect(t, &r, assert.Goodput(&r, uncounted.runs(1), slo, 1), false,
		`error: Goodput is refused: SLO.TPOT is 40ms, and the server counted no tokens of request r0-00000 of run 1
    next       make the server report usage in its streams, or limit ITL instead
    at         even 10/s, chat(100/11), 1 run of 1,000 requests
`)
}
