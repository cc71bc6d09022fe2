package assert_test

import (
	"slices"
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestLatency(t *testing.T) {
	few := load{n: 100, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.5}
	closed := load{n: 1000, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.5, inFlight: 64}
	serial := closed
	serial.inFlight = 1
	failed := calm
	failed.each = failing("reset", func(i int) bool { return i%90 == 89 })
	for _, row := range []struct {
		name   string
		runs   *benchtest.Runs
		metric string
		limit  time.Duration
		holds  bool
		text   string
	}{
		{"holds", calm.runs(3), "p99-ttft-sec", 500 * time.Millisecond, true, `log: p99-ttft-sec 297.5ms, at most 500ms was asked
    interval   295.8ms … 299.2ms (95 %, t over 3 runs)
    requests   3,000 finished, 0 failed
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"does not hold", calm.runs(3), "p99-ttft-sec", 250 * time.Millisecond, false, `error: p99-ttft-sec 297.5ms, want at most 250ms
    interval   295.8ms … 299.2ms (95 %, t over 3 runs)
    requests   3,000 finished, 0 failed
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"the limit lies inside the interval", calm.runs(3), "p50-ttft-sec", 202 * time.Millisecond, true, `log: p50-ttft-sec 200.9ms, at most 202ms was asked
    interval   194.5ms … 207.2ms (95 %, t over 3 runs)
    note       the limit lies inside the interval: another set of runs could end on its other side
    requests   3,000 finished, 0 failed
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"one run", calm.runs(1), "p90-ttft-sec", 500 * time.Millisecond, true, `log: p90-ttft-sec 276.1ms, at most 500ms was asked
    interval   270.3ms … 282ms (95 %, ten sections of the one run)
    requests   1,000 finished, 0 failed
    at         even 10/s, chat(100/11), 1 run of 1,000 requests
`},
		{"a maximum of one run", calm.runs(1), "max-ttft-sec", 500 * time.Millisecond, true, `log: max-ttft-sec 299.9ms, at most 500ms was asked
    interval   none: one run of max-ttft-sec has none; make more runs
    requests   1,000 finished, 0 failed
    at         even 10/s, chat(100/11), 1 run of 1,000 requests
`},
		{"one run with too few requests for an interval", load{n: 99, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond}.runs(1), "p90-ttft-sec", 500 * time.Millisecond, true, `log: p90-ttft-sec 200ms, at most 500ms was asked
    interval   none: the one run has 99 values of ttft-sec, and an interval within a run takes at least 100: make 2 runs or more, or raise Requests or Window
    requests   99 finished, 0 failed
    at         even 10/s, chat(100/11), 1 run of 99 requests
`},
		{"a mean of one run", calm.runs(1), "mean-e2e-sec", 500 * time.Millisecond, true, `log: mean-e2e-sec 401.4ms, at most 500ms was asked
    interval   398.2ms … 404.6ms (95 %, ten sections of the one run)
    requests   1,000 finished, 0 failed
    at         even 10/s, chat(100/11), 1 run of 1,000 requests
`},
		{"three runs pool their requests for a percentile", load{n: 400, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.5}.runs(3), "p99-ttft-sec", 500 * time.Millisecond, true, `log: p99-ttft-sec 297.1ms, at most 500ms was asked
    interval   290.1ms … 304.1ms (95 %, t over 3 runs)
    requests   1,200 finished, 0 failed
    at         even 10/s, chat(100/11), 3 runs of 400 requests
`},
		{"too few requests for the percentile", few.runs(3), "p99-ttft-sec", 500 * time.Millisecond, false, `error: p99-ttft-sec, want at most 500ms: no value: p99 of 300 values: needs 1,000
    next       raise Requests or Runs, or ask for a lower percentile
    at         even 10/s, chat(100/11), 3 runs of 100 requests
`},
		{"a percentile among those that failed", failed.runs(3), "p99-ttft-sec", 500 * time.Millisecond, false, `error: p99-ttft-sec does not exist: so many requests failed that the percentile is one of them
    interval   296.9ms … 298.2ms (95 %, t over 3 runs)
    requests   2,967 finished, 33 failed
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"a closed loop", closed.runs(3), "p50-ttft-sec", 500 * time.Millisecond, false, `error: p50-ttft-sec is refused on a closed loop (64 in flight): it waits for the engine before it sends, so the queue that users stand in never forms
    next       use an arrival process, or ask for closed-p50-ttft-sec if that is what you mean
    at         closed loop, 64 in flight, chat(100/11), 3 runs of 1,000 requests
`},
		{"a closed loop asked for by name", closed.runs(3), "closed-p50-ttft-sec", 500 * time.Millisecond, true, `log: closed-p50-ttft-sec 200.9ms, at most 500ms was asked
    interval   194.5ms … 207.2ms (95 %, t over 3 runs)
    requests   3,000 finished, 0 failed
    at         closed loop, 64 in flight, chat(100/11), 3 runs of 1,000 requests
`},
		{"an open loop asked for as a closed one", calm.runs(3), "closed-p50-ttft-sec", 500 * time.Millisecond, false, `error: assert: Latency: closed-p50-ttft-sec names a closed loop, but this is even 10/s: ask for p50-ttft-sec
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"serial", serial.runs(3), "p50-tpot-sec", 500 * time.Millisecond, true, `log: p50-tpot-sec 20ms, at most 500ms was asked
    interval   20ms … 20ms (95 %, t over 3 runs)
    requests   3,000 finished, 0 failed
    at         serial, chat(100/11), 3 runs of 1,000 requests
`},
		{"throughput", calm.runs(3), "output-tok/s", time.Second, false, `error: assert: Latency: output-tok/s is refused: throughput below saturation is the offered load echoed back
`},
		{"no latency", calm.runs(3), "error-rate", time.Second, false, `error: assert: Latency: error-rate is no latency, it is in share: ask for one such as p99-ttft-sec
`},
		{"unknown", calm.runs(3), "p98-ttft", time.Second, false, `error: assert: Latency: metric: unknown metric "p98-ttft": there are mean-ttft-sec, p50-ttft-sec, p90-ttft-sec, p95-ttft-sec, p99-ttft-sec, p999-ttft-sec, max-ttft-sec, mean-service-ttft-sec, p50-service-ttft-sec, p90-service-ttft-sec, p95-service-ttft-sec, p99-service-ttft-sec, p999-service-ttft-sec, max-service-ttft-sec
`},
		{"a limit of nothing", calm.runs(3), "p50-ttft-sec", 0, false, `error: assert: Latency limit must be positive, got 0s
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r recorder
			expect(t, &r, assert.Latency(&r, row.runs, row.metric, row.limit), row.holds, row.text)
		})
	}
}

// Gaps between events that carry several tokens each are no gaps between
// tokens, and the text says so.
func TestGapsBetweenEventsAreCalledSo(t *testing.T) {
	for _, row := range []struct {
		name      string
		tokenGaps bool
		note      string
	}{
		{"each event known to carry one token", true, ""},
		{"events that may carry several", false, `
    note       events may carry several tokens, so these are gaps between events, not between tokens`},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := calm
			l.each = func(_ int, q *metric.Timeline) {
				q.Gaps, q.TokenGaps = slices.Repeat([]time.Duration{20 * time.Millisecond}, q.Events-1), row.tokenGaps
			}
			var r recorder
			expect(t, &r, assert.Latency(&r, l.runs(3), "p99-itl-sec", 500*time.Millisecond), true, `log: p99-itl-sec 20ms, at most 500ms was asked
    interval   20ms … 20ms (95 %, t over 3 runs)`+row.note+`
    requests   3,000 finished, 0 failed
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`)
		})
	}
}

// Percentiles of runs are never averaged: the requests are pooled (case M16).
func TestPercentilesArePooled(t *testing.T) {
	fast := load{n: 1000, rate: 10, ttft: 10 * time.Millisecond, tpot: time.Millisecond}
	slow := load{n: 10, rate: 10, ttft: 2 * time.Second, tpot: time.Millisecond}
	runs := &benchtest.Runs{Records: []*metric.Record{fast.record(0), slow.record(1)}}
	for _, r := range runs.Records {
		r.InFlight = 1
	}
	var r recorder
	if !assert.Latency(&r, runs, "p95-ttft-sec", 10*time.Millisecond) {
		t.Errorf("the p95 of 1,000 times 10 ms and 10 times 2 s is 10 ms; said\n%s", r.said())
	}
}

// A latency on a queue that grows tells how long one ran; on one that is
// undecided nobody knows, unless the load is known to be quiet.
func TestLatencyNeedsAQueueThatIsSteady(t *testing.T) {
	var r recorder
	expect(t, &r, assert.Latency(&r, drowning.runs(3), "p50-ttft-sec", time.Hour), false, `error: p50-ttft-sec is refused: growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`)
	unclear := wandering.runs(3)
	r = recorder{}
	expect(t, &r, assert.Latency(&r, unclear, "p50-ttft-sec", time.Hour), false, `error: p50-ttft-sec is refused: undecided: 3 runs, 900 arrivals show an overload of 10.8 % or more; one of 5 % takes 3,772 arrivals (z 0.7, Dickey–Fuller t -1.71, critical -2.34)
    next       raise Requests, Window or Runs: several runs are pooled
    or         set Point.Capacity: at up to 0.7 of a known capacity an undecided queue is quiet enough
    at         even 10/s, chat(100/11), 3 runs of 300 requests
`)
	for _, record := range unclear.Records {
		record.Capacity = 12
	}
	r = recorder{}
	expect(t, &r, assert.Latency(&r, unclear, "p50-ttft-sec", time.Hour), false, `error: p50-ttft-sec is refused: undecided: 3 runs, 900 arrivals show an overload of 10.8 % or more; one of 5 % takes 3,772 arrivals (z 0.7, Dickey–Fuller t -1.71, critical -2.34)
    next       raise Requests, Window or Runs: several runs are pooled
    or         offer at most 8.40 req/s, which is 0.7 of the known capacity of 12: there an undecided queue is quiet enough
    at         even 10/s, chat(100/11), 3 runs of 300 requests
`)
	for _, record := range unclear.Records {
		record.Capacity = 15
	}
	r = recorder{}
	expect(t, &r, assert.Latency(&r, unclear, "p50-ttft-sec", time.Hour), true, `log: p50-ttft-sec 546.5ms, at most 1h0m0s was asked
    interval   378.9ms … 714.1ms (95 %, t over 3 runs)
    requests   900 finished, 0 failed
    at         even 10/s, chat(100/11), 3 runs of 300 requests
`)
}
