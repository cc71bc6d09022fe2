package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestAClosedLoopSchedulesWhenASlotIsFree(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: time.Second}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Closed:   Closed{InFlight: 1}, Requests: 5,
		}))
		requests := window(r)
		require.Len(t, requests, 5)
		for i, q := range requests {
			assert.Equal(t, lead+time.Duration(i)*time.Second+time.Duration(max(0, i-1)), q.Scheduled)
			assert.Equal(t, time.Second, q.LastToken-q.Sent)
			// A slot is refilled a virtual nanosecond after its instant.
			assert.Equal(t, time.Duration(min(i, 1)), q.Sent-q.Scheduled)
		}
		assert.Equal(t, 1, engine.peak)
		assert.Equal(t, 1, r.InFlight)
		assert.Zero(t, r.Rate, "nothing is offered in a closed loop")
		assert.Empty(t, r.Problems)
	})
}

// The slots of a batch become free at one instant; the order in which they are
// refilled must not depend on which goroutine was first.
func TestAClosedLoopIsReproducible(t *testing.T) {
	run := func(t *testing.T) (out *metric.Record) {
		inBubble(t, func(t *testing.T) {
			out = one(t, &script{first: time.Second, gap: 10 * time.Millisecond}, small(Point{
				Workload: prompts{16, 3}, Closed: Closed{InFlight: 32}, Requests: 100, Settle: 64,
			}))
		})
		return out
	}
	first := run(t)
	assert.Len(t, window(first), 128, "the window's last wave is one instant and is not parted")
	for range 3 {
		require.Equal(t, first, run(t))
	}
}
