package benchtest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// Cooldown keeps the load up until the window's last request has ended, and
// no longer.
func TestCooldownLastsUntilTheWindowHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: 950 * time.Millisecond}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 10}, Requests: 5, Settle: 3,
		}))
		var phases []metric.Phase
		for _, q := range r.Requests {
			phases = append(phases, q.Phase)
			assert.Empty(t, q.Failure)
		}
		// The window's last is due at 0.7 s of the schedule and ends at 1.65 s.
		want := slices.Concat(slices.Repeat([]metric.Phase{metric.Settle}, 3), slices.Repeat([]metric.Phase{metric.Window}, 5), slices.Repeat([]metric.Phase{metric.Cooldown}, 9))
		assert.Equal(t, want, phases)
		assert.Equal(t, lead+300*time.Millisecond, r.From)
		assert.Equal(t, lead+800*time.Millisecond, r.To)
	})
}

// What the drain limit cuts is unfinished: neither a success nor forgotten.
func TestTheDrainLimitLeavesUnfinished(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: 2 * time.Second, gap: 2 * time.Second, slots: 1}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 2},
			Arrivals: arrival.Constant{Rate: 1}, Requests: 3, Drain: 4 * time.Second,
		}))
		requests := window(r)
		require.Len(t, requests, 3)
		// Served one after the other in 4 s each; the limit is at 3 + 4 s.
		assert.Empty(t, requests[0].Failure)
		assert.Equal(t, metric.Unfinished, requests[1].Failure)
		assert.Equal(t, lead+6*time.Second, requests[1].FirstToken, "what it got is kept")
		assert.Equal(t, lead+7*time.Second, requests[1].Closed)
		assert.Equal(t, metric.Unfinished, requests[2].Failure)
		assert.Zero(t, requests[2].FirstToken)
		assert.Equal(t, []string{kindUnfinished}, kinds(r))
	})
}

func TestAnEngineThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		engine := &script{first: time.Millisecond, sends: func(n int) {
			if n == 2 {
				<-release
			}
		}}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 10}, Requests: 10, Drain: time.Second,
		}))
		close(release)
		assert.Equal(t, metric.Unfinished, window(r)[1].Failure)
		assert.Contains(t, kinds(r), kindStuck)
	})
}
