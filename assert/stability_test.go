package assert_test

import (
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// wandering is a load near the capacity of a single server: its queue is seen
// neither to settle nor to grow.
var wandering = load{n: 300, rate: 10, ttft: 5 * time.Millisecond, tpot: time.Millisecond, spread: 0.5, service: 95 * time.Millisecond}

// drowning is a load of which a part is never caught up with.
var drowning = load{n: 1000, rate: 10, ttft: 50 * time.Millisecond, tpot: 5 * time.Millisecond, spread: 0.5, backlog: 0.1}

// behind is the load with a limit on the client's side, which holds back those from
// this one on.
func (l load) behind(limit, from int) load {
	l.clientLimit = limit
	l.each = func(i int, q *metric.Timeline) {
		if i >= from {
			q.Released = q.FirstToken - 50*time.Millisecond
			q.Sent = q.Released
		}
	}
	return l
}

// cutOnTheWay is the load with requests that were let go when they were due, and cut
// while they waited for a connection.
func (l load) cutOnTheWay(from int) load {
	l.clientLimit = 4
	l.each = func(i int, q *metric.Timeline) {
		if i >= from {
			q.Closed = q.LastToken
			q.Failure, q.Sent, q.FirstToken, q.LastToken, q.Events = metric.Unfinished, 0, 0, 0, 0
		}
	}
	return l
}

func TestSustained(t *testing.T) {
	closed := calm
	closed.inFlight = 1
	for _, row := range []struct {
		name  string
		load  load
		runs  int
		holds bool
		text  string
	}{
		{"sustained", calm, 3, true, `log: sustained: the number in flight returns to a level, Dickey–Fuller t -7.07, below -2.34 (3 runs, 3,000 arrivals)
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"growing", drowning, 3, false, `error: growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`},
		{"growing behind a limit on the client's side", drowning.behind(4, 100), 3, false, `error: growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over what 4 in flight come to for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    limit      Point.ClientLimit lets 4 be in flight, and held back 2,700 of 3,000 requests: the queue is on this side, and cannot be told apart from one of the engine's
    next       raise Point.ClientLimit, or remove it, to see whether the engine keeps up; or offer less
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests, client limit 4
`},
		{"growing with a limit that held few back", drowning.behind(4, 999), 3, false, `error: growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    limit      Point.ClientLimit lets 4 be in flight, and held back 3 of 3,000 requests
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests, client limit 4
`},
		{"growing with a limit that held just fewer than half back", drowning.behind(4, 501), 1, false, `error: growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 39.9, above 1.96 (1 run, 1,000 arrivals)
    limit      Point.ClientLimit lets 4 be in flight, and held back 499 of 1,000 requests
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    at         even 10/s, chat(100/11), 1 run of 1,000 requests, client limit 4
`},
		{"and half", drowning.behind(4, 500), 1, false, `error: growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over what 4 in flight come to for 1m40s; z 39.9, above 1.96 (1 run, 1,000 arrivals)
    limit      Point.ClientLimit lets 4 be in flight, and held back 500 of 1,000 requests: the queue is on this side, and cannot be told apart from one of the engine's
    next       raise Point.ClientLimit, or remove it, to see whether the engine keeps up; or offer less
    at         even 10/s, chat(100/11), 1 run of 1,000 requests, client limit 4
`},
		{"growing with a limit that held back none of those that were cut on their way", drowning.cutOnTheWay(100), 3, false, `error: growing: the backlog grows by 9.00 req/s: 10.00 offered, 1.00 served, 900 % over capacity for 1m40s; z 25.0, above 1.96 (3 runs, 3,000 arrivals)
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests, client limit 4
`},
		{"growing with a limit that held nothing back", drowning.behind(4000, 1000), 3, false, `error: growing: the backlog grows by 0.91 req/s: 10.00 offered, 9.09 served, 10 % over capacity for 1m40s; z 69.0, above 1.96 (3 runs, 3,000 arrivals)
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests, client limit 4000
`},
		{"undecided", wandering, 3, false, `error: undecided: 3 runs, 900 arrivals show an overload of 10.8 % or more; one of 5 % takes 3,772 arrivals (z 0.7, Dickey–Fuller t -1.71, critical -2.34)
    next       raise Requests, Window or Runs: several runs are pooled
    at         even 10/s, chat(100/11), 3 runs of 300 requests
`},
		{"too few to judge", load{n: 5, rate: 10, ttft: time.Second, tpot: time.Millisecond}, 1, false, `error: stability cannot be judged: steady: 5 arrivals in a window of 500ms: the verdict needs at least 20
    next       raise Requests, Window or Runs: several runs are pooled
    at         even 10/s, chat(100/11), 1 run of 5 requests
`},
		{"a closed loop", closed, 3, false, `error: assert: Sustained on a closed loop (1 in flight) cannot fail, so it is refused: it sends only when the engine has answered; use an arrival process
    at         serial, chat(100/11), 3 runs of 1,000 requests
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r recorder
			expect(t, &r, assert.Sustained(&r, row.load.runs(row.runs)), row.holds, row.text)
		})
	}
}

func TestUndecidedIsWhatTheConfigurationSays(t *testing.T) {
	runs := wandering.runs(3)
	t.Setenv("OPENLOOP_INCONCLUSIVE", "warn")
	var r recorder
	expect(t, &r, assert.Sustained(&r, runs), true, `log: undecided: 3 runs, 900 arrivals show an overload of 10.8 % or more; one of 5 % takes 3,772 arrivals (z 0.7, Dickey–Fuller t -1.71, critical -2.34)
    next       raise Requests, Window or Runs: several runs are pooled
    so         the test goes on, because OPENLOOP_INCONCLUSIVE=warn
    at         even 10/s, chat(100/11), 3 runs of 300 requests
`)
	t.Setenv("OPENLOOP_INCONCLUSIVE", "skip")
	r = recorder{}
	expect(t, &r, assert.Sustained(&r, runs), false, `skip: undecided: 3 runs, 900 arrivals show an overload of 10.8 % or more; one of 5 % takes 3,772 arrivals (z 0.7, Dickey–Fuller t -1.71, critical -2.34)
    next       raise Requests, Window or Runs: several runs are pooled
    so         the test is skipped, because OPENLOOP_INCONCLUSIVE=skip
    at         even 10/s, chat(100/11), 3 runs of 300 requests
`)
	t.Setenv("OPENLOOP_INCONCLUSIVE", "maybe")
	r = recorder{}
	expect(t, &r, assert.Sustained(&r, runs), false, `error: ci: OPENLOOP_INCONCLUSIVE is "maybe": must be fail, skip or warn
`)
}
