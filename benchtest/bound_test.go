package benchtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// failingBut fails every request at once whose number in its load is no
// multiple of n.
func failingBut(n int, class engines.Class, message string) func(int, *engines.Request) error {
	return func(_ int, r *engines.Request) error {
		var i int
		if fmt.Sscanf(r.ID[strings.LastIndexByte(r.ID, '-')+1:], "%d", &i); i%n == 0 {
			return nil
		}
		return &engines.Error{Class: class, Message: message}
	}
}

// refusing serves the first request of a load for ten seconds and refuses the
// others at once.
func refusing() *script {
	return &script{first: 10 * time.Second, fails: failingBut(1_000_000, engines.Refused, "busy")}
}

// forms runs a point on both forms of an engine, which must agree, and returns
// the record of the one on the clock.
func forms(t *testing.T, engine func() *script, p Point) (r *metric.Record, err error) {
	t.Helper()
	inBubble(t, func(t *testing.T) {
		runs, e := Run(t.Context(), engine(), p, Options{})
		require.Len(t, runs.Records, 1)
		r, err = runs.Records[0], e
	})
	runs, e := Run(t.Context(), &computed{script: engine()}, p, Options{})
	require.Len(t, runs.Records, 1)
	if err != nil {
		require.EqualError(t, e, err.Error())
		return r, err
	}
	require.NoError(t, e)
	same := *r
	same.Requests = append([]metric.Timeline{}, r.Requests...)
	forget(&same)
	forget(runs.Records[0])
	sameRecord(t, &same, runs.Records[0])
	return r, nil
}

// With one request at work for ten seconds and an engine that refuses all
// others, a slot was refilled each virtual nanosecond.
func TestACooldownAmongRefusalsEnds(t *testing.T) {
	r, err := forms(t, refusing, small(Point{
		Workload: prompts{16, 1}, Closed: Closed{InFlight: 2}, Requests: 50, Limits: Limits{ErrorRate: 1},
	}))
	require.NoError(t, err)
	counted := window(r)
	require.Len(t, counted, 50)
	assert.Empty(t, counted[0].Failure)
	assert.Equal(t, counted[0].Sent+10*time.Second, counted[0].Closed, "the window's last request ended in its own time")
	assert.Len(t, r.Requests, 50+leastCooldown)
	assert.Contains(t, r.Warnings, "the cooldown was ended after 10000 requests, before the window's last had: those ran in an emptying batch; find out why the others end so soon")
}

// A window of a length has no number of requests to end at.
func TestAWindowOfRefusalsEnds(t *testing.T) {
	_, err := forms(t, refusing, small(Point{
		Workload: prompts{16, 1}, Closed: Closed{InFlight: 2}, Window: time.Minute,
	}))
	assert.EqualError(t, err, "benchtest: run 1 of 1: benchtest: the closed loop was stopped after 999ns of its window: 1000 requests in a row had failed; first: refused: busy")
}

func TestAWindowOfRequestsThatTakeNoTimeEnds(t *testing.T) {
	_, err := forms(t, func() *script { return &script{} }, small(Point{
		Workload: prompts{16, 1}, Closed: Closed{InFlight: 2}, Window: time.Minute,
	}))
	assert.EqualError(t, err, "benchtest: run 1 of 1: benchtest: the closed loop was stopped: 100000 requests in 49.999µs, so the engine takes no time to serve them: set Point.Requests instead of Window")
}

// Failures that are not in a row, and cooldowns of many short requests beside
// a long one, are no reason to stop.
func TestBoundsAreFarFromLoadsThatAreMeant(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := one(t, &script{first: time.Millisecond, fails: failingBut(500, engines.ServerError, "out of memory")},
			small(Point{Workload: prompts{16, 1}, Closed: Closed{InFlight: 2}, Window: 10 * time.Millisecond, Limits: Limits{ErrorRate: 1}}))
		assert.Greater(t, len(window(r)), 4000)
		for _, w := range r.Warnings {
			assert.NotContains(t, w, "cooldown")
		}
	})
}
