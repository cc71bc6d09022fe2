package benchtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// warmer keeps how many connections were asked for.
type warmer struct {
	asked []int
	err   error
}

func (w *warmer) Warm(_ context.Context, n int) error {
	w.asked = append(w.asked, n)
	return w.err
}

func TestConnectionsAreOpenedBeforeTheLoad(t *testing.T) {
	for _, c := range []struct {
		name  string
		point Point
		want  []int // before the readiness check, warmup and load
	}{
		{"a closed loop has as many as slots", Point{Closed: Closed{InFlight: 8}, Requests: 100}, []int{8, 8}},
		{"and one for probes", Point{Closed: Closed{InFlight: 8}, Requests: 100, ProbeRate: 1}, []int{9, 9}},
		{"an open loop as many as it had so far", Point{Arrivals: arrival.Constant{Rate: 100}, Requests: 100}, []int{1, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := struct {
					real
					*warmer
				}{real{&script{first: 25 * time.Millisecond}}, &warmer{}}
				c.point.Workload, c.point.Runs = prompts{16, 1}, 1
				one(t, engine, c.point)
				assert.Equal(t, c.want, engine.asked)
			})
		})
	}
}

// What this host cannot have is known before anything is sent; what the server
// would not accept is for the load to find out.
func TestConnectionsThatCannotBeOpened(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := struct {
			real
			*warmer
		}{real{quick()}, &warmer{err: &engines.Error{Class: engines.Client, Message: "open connections: the limit (RLIMIT_NOFILE) is 64"}}}
		_, err := Run(t.Context(), engine, Point{Workload: prompts{16, 1}, Closed: Closed{InFlight: 200}, Requests: 1000, Runs: 1}, Options{})
		assert.EqualError(t, err, "benchtest: run 1 of 1: in the warmup: 200 connections for 200 requests in flight: open connections: the limit (RLIMIT_NOFILE) is 64; or lower the load")
		assert.Len(t, engine.seen, 1, "the readiness check")

		engine.warmer.err = errors.New("connection refused")
		runs, err := Run(t.Context(), engine, Point{Workload: prompts{16, 1}, Closed: Closed{InFlight: 20}, Requests: 100, Runs: 1, Limits: Limits{Lag: time.Hour}}, Options{})
		require.NoError(t, err)
		assert.Empty(t, runs.Records[0].Problems)
	})
}

// In an open loop the connections are those that an earlier load needed. Where that
// was many times what the schedule needs, the engine did not keep up.
func TestConnectionsForRequestsThatPileUp(t *testing.T) {
	for _, c := range []struct {
		name  string
		first time.Duration
		slots int
		rate  float64
		want  string
	}{
		{"one at a time, and twice as many come", 97 * time.Millisecond, 1, 20,
			"benchtest: run 1 of 1: 49 connections, since an earlier load had 49 requests in flight at once, and constant 20/s has 2 if each takes as long as one alone: requests pile up because the engine does not keep up: open connections: the limit (RLIMIT_NOFILE) is 64; or lower the load"},
		{"all at once, of two seconds each", 1990 * time.Millisecond, 0, 25,
			"benchtest: run 1 of 1: 50 connections, since an earlier load had 50 requests in flight at once: open connections: the limit (RLIMIT_NOFILE) is 64; or lower the load"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mayHave(t, 0, 0)
			inBubble(t, func(t *testing.T) {
				engine := struct {
					real
					*pooled
				}{real{&script{first: c.first, slots: c.slots}}, &pooled{limit: 64, others: 20}}
				_, err := Run(t.Context(), engine, Point{Workload: prompts{16, 1}, Arrivals: arrival.Constant{Rate: c.rate}, Requests: 100, Warmup: 100, Runs: 1, Limits: Limits{Lag: time.Hour}}, Options{})
				assert.EqualError(t, err, c.want)
			})
		})
	}
}

// Of what a transport tells of each request, the longest wait of its events,
// the record has what is near the p99 of all events. Events that were read by
// themselves have their times whatever they waited; those read several at a time
// have not, and slots wait as long as bytes do.
func TestBytesThatLayUnread(t *testing.T) {
	open := Point{Arrivals: arrival.Constant{Rate: 20}}
	for _, c := range []struct {
		name   string
		point  Point
		tokens int
		gap    time.Duration
		late   int // every so many requests, by 8 ms
		unread time.Duration
		stamp  time.Duration
		kinds  []string
	}{
		{"one event each, one in fifty late: p99 is late", open, 1, time.Millisecond, 50, 8 * time.Millisecond, 0, []string{}},
		{"one event each, one in two hundred late", open, 1, time.Millisecond, 200, 100 * time.Microsecond, 0, []string{}},
		{"200 events each, one of one request in three late", open, 200, time.Millisecond, 3, 100 * time.Microsecond, 0, []string{}},
		{"200 events each, one of every request late", open, 200, time.Millisecond, 1, 8 * time.Millisecond, 0, []string{}},
		{"events that came together with others, hardly late", Point{Arrivals: arrival.Constant{Rate: 20}, Limits: Limits{ZeroGaps: 1}}, 200, 0, 1000,
			100 * time.Microsecond, 100 * time.Microsecond, []string{}},
		{"and late", Point{Arrivals: arrival.Constant{Rate: 20}, Limits: Limits{ZeroGaps: 1}}, 200, 0, 1,
			8 * time.Millisecond, 8 * time.Millisecond, []string{kindClient}},
		{"a closed loop, one event each, one in fifty late", Point{Closed: Closed{InFlight: 2}}, 1, time.Millisecond, 50, 8 * time.Millisecond, 0, []string{kindClient}},
		{"behind a limit of the client's", Point{Arrivals: arrival.Constant{Rate: 20}, ClientLimit: 10}, 1, time.Millisecond, 50, 8 * time.Millisecond, 0, []string{kindClient}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				lost := func(n, i int) time.Duration {
					switch {
					case c.gap > 0 || i == 0:
						return 0
					case n%c.late == 0:
						return 8 * time.Millisecond
					}
					return 100 * time.Microsecond
				}
				engine := &script{first: time.Millisecond, gap: c.gap, lost: lost, reply: func(n int, r *engines.Reply) {
					if r.ReadLag = 100 * time.Microsecond; n%c.late == 0 {
						r.ReadLag = 8 * time.Millisecond
					}
				}}
				c.point.Workload, c.point.Requests = prompts{16, c.tokens}, 400
				r := one(t, engine, small(c.point))
				assert.Equal(t, []float64{c.unread.Seconds(), c.stamp.Seconds()}, []float64{r.Client.Readings[readLag], r.Client.Readings[readStamp]})
				assert.Equal(t, c.kinds, kinds(r))
			})
		})
	}
}
