package benchtest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// preparing is an engine that takes a while to prepare a request.
type preparing struct {
	*script
	prepare func(r *engines.Request)
	served  []any
}

func (e *preparing) Prepare(r *engines.Request) { e.prepare(r) }

func (e *preparing) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	e.mu.Lock()
	e.served = append(e.served, r.Prepared)
	e.mu.Unlock()
	r.Prepared = nil
	return e.script.Generate(ctx, r, emit)
}

// Requests are prepared before they are due, so that none is late for it.
func TestRequestsArePreparedAhead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &preparing{script: quick(), prepare: func(r *engines.Request) {
			time.Sleep(20 * time.Millisecond)
			r.Prepared = r.ID
		}}
		p := usual()
		runs, err := Run(t.Context(), engine, p, Options{})
		require.NoError(t, err)
		require.Empty(t, runs.Records[0].Problems)
		for _, line := range runs.Records[0].Requests {
			assert.Equal(t, line.Scheduled, line.Sent, line.ID)
		}
		require.Len(t, engine.served, len(engine.seen))
		for i, r := range engine.seen {
			assert.Equal(t, r.ID, engine.served[i])
		}
	})
}

func TestAnEngineThatPanicsInPrepare(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &preparing{script: quick(), prepare: func(r *engines.Request) { panic("no room") }}
		_, err := Run(t.Context(), engine, usual(), Options{})
		assert.ErrorContains(t, err, "panic in the engine's Prepare: no room")
	})
}

// A workload or Prepare that hangs holds up neither the end of a load nor its
// telling.
func TestWhatHangsWhileRequestsAreMade(t *testing.T) {
	for what, p := range map[string]Point{
		"open":   {Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100, Runs: 1},
		"closed": {Workload: prompts{16, 4}, Closed: Closed{InFlight: 2}, Requests: 100, Runs: 1},
	} {
		inBubble(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			engine := &preparing{script: quick(), prepare: func(*engines.Request) { time.Sleep(time.Hour) }}
			begun := time.Now()
			_, err := Run(ctx, engine, p, Options{})
			assert.ErrorContains(t, err, "the workload, the arrival process or the engine's Prepare did not return within 10s of the end of the load: none may wait", what)
			assert.Equal(t, 30*time.Second, time.Since(begun), what)
			time.Sleep(time.Hour)
		})
	}
}

// Without a deadline it is bounded, too.
func TestWhatHangsWhileRequestsAreMadeAndNobodyStopsIt(t *testing.T) {
	for what, p := range map[string]Point{
		"open":   {Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100, Runs: 1},
		"closed": {Workload: prompts{16, 4}, Closed: Closed{InFlight: 2}, Requests: 100, Runs: 1},
	} {
		inBubble(t, func(t *testing.T) {
			var made atomic.Int32
			begun := make(chan time.Time, 1)
			engine := &preparing{script: quick(), prepare: func(*engines.Request) {
				if made.Add(1) == 2 { // the first asks whether the engine is ready
					begun <- time.Now()
					time.Sleep(time.Hour)
				}
			}}
			_, err := Run(t.Context(), engine, p, Options{})
			assert.ErrorContains(t, err, "benchtest: no request was made for 10m0s: the workload, the arrival process or the engine's Prepare hangs: none may wait", what)
			want := stalled + returnGrace
			if p.Closed.InFlight > 0 {
				want += lead // before its first is due
			}
			assert.Equal(t, want, time.Since(<-begun), what)
			time.Sleep(time.Hour)
		})
	}
}
