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
		assert.EqualError(t, err, "benchtest: run 1 of 1: in the warmup: benchtest: 200 connections for 200 requests in flight: open connections: the limit (RLIMIT_NOFILE) is 64: or lower the load")
		assert.Len(t, engine.seen, 1, "the readiness check")

		engine.warmer.err = errors.New("connection refused")
		runs, err := Run(t.Context(), engine, Point{Workload: prompts{16, 1}, Closed: Closed{InFlight: 20}, Requests: 100, Runs: 1, Limits: Limits{Lag: time.Hour}}, Options{})
		require.NoError(t, err)
		assert.Empty(t, runs.Records[0].Problems)
	})
}

// Of what a transport tells of each request, the longest wait of its events,
// the record has what is near the p99 of all events.
func TestBytesThatLayUnread(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens int
		late   int // every so many requests, by 8 ms
		want   time.Duration
		kinds  []string
	}{
		{"one event each, one in fifty late: p99 is late", 1, 50, 8 * time.Millisecond, []string{kindClient}},
		{"one event each, one in two hundred late", 1, 200, 100 * time.Microsecond, []string{}},
		{"200 events each, one of one request in three late", 200, 3, 100 * time.Microsecond, []string{}},
		{"200 events each, one of every request late", 200, 1, 8 * time.Millisecond, []string{kindClient}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := &script{first: time.Millisecond, gap: time.Millisecond, reply: func(n int, r *engines.Reply) {
					if r.ReadLag = 100 * time.Microsecond; n%c.late == 0 {
						r.ReadLag = 8 * time.Millisecond
					}
				}}
				r := one(t, engine, small(Point{Workload: prompts{16, c.tokens}, Arrivals: arrival.Constant{Rate: 20}, Requests: 400}))
				assert.Equal(t, c.want.Seconds(), r.Client.Readings[readLag])
				assert.Equal(t, c.kinds, kinds(r))
			})
		})
	}
}
