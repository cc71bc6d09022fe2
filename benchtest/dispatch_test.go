package benchtest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// 0.45 ms of work for each send once made 200 requests a second 183: every
// gap was slept from the send before. A schedule of absolute times keeps its
// end, and each request its own lateness.
func TestTheScheduleDoesNotDriftWithTheCostOfSending(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: time.Millisecond, sends: func(int) { time.Sleep(450 * time.Microsecond) }}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 200}, Requests: 10_000,
		}))
		requests := window(r)
		require.Len(t, requests, 10_000)
		for i, q := range requests {
			require.Equal(t, lead+time.Duration(i)*5*time.Millisecond, q.Scheduled, "arrival %d", i)
			require.Equal(t, 450*time.Microsecond, q.Sent-q.Scheduled, "arrival %d", i)
		}
		assert.Equal(t, 200.0, r.Rate)
		assert.Equal(t, 50*time.Second, r.To-r.From)
		assert.Empty(t, r.Problems)
	})
}

// A hundred and fifty requests at one instant are a hundred and fifty in
// flight at the engine: there is no pool, no cap and no slot of ours.
func TestNoHiddenLimitOfConcurrency(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: 149500 * time.Microsecond}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 1000}, Requests: 300,
		}))
		assert.Equal(t, 150, engine.peak)
		for _, q := range window(r) {
			require.Equal(t, q.Scheduled, q.Sent)
			require.Equal(t, q.Scheduled+engine.first, q.LastToken)
		}
	})
}

// The engine is slow: arrivals go on as planned.
func TestArrivalsWaitForNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: 3 * time.Second, slots: 1}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 10}, Requests: 10, Drain: time.Minute,
		}))
		for i, q := range window(r) {
			assert.Equal(t, lead+time.Duration(i)*100*time.Millisecond, q.Sent)
			assert.Equal(t, lead+time.Duration(i+1)*3*time.Second, q.LastToken)
			assert.Empty(t, q.Failure)
		}
	})
}

// A limit in the client must count its wait: each request takes 500 ms of
// service, arrivals come every 100 ms, and one is let through at a time.
func TestTheWaitForAClientLimitCounts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: 500 * time.Millisecond}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 10}, Requests: 8, ClientLimit: 1,
		}))
		var e2e, queue, service, longest time.Duration
		for _, q := range window(r) {
			d, ok := q.E2E()
			require.True(t, ok)
			e2e += d
			longest = max(longest, d)
			free := max(q.Scheduled, q.Released) // the first was not held
			queue += free - q.Scheduled
			service += q.LastToken - q.Sent
			assert.Equal(t, free, q.Sent)
		}
		assert.Equal(t, 1900*time.Millisecond, e2e/8)
		assert.Equal(t, 3300*time.Millisecond, longest)
		assert.Equal(t, 1400*time.Millisecond, queue/8)
		assert.Equal(t, 500*time.Millisecond, service/8)
		assert.Equal(t, 1, engine.peak)
		assert.Empty(t, r.Problems, "the wait is asked for, and is no lag")
	})
}

// slowly is a workload that takes a while to make a request.
type slowly struct {
	prompts
	takes time.Duration
}

func (w slowly) Request(i int, shape, content uint64) engines.Request {
	time.Sleep(w.takes)
	return w.prompts.Request(i, shape, content)
}

// A limit that holds nobody hides nothing: requests come every 10 ms, and to
// make one takes 20.
func TestAClientLimitThatIsNotReachedHidesNoLag(t *testing.T) {
	for _, limit := range []int{0, 1000} {
		inBubble(t, func(t *testing.T) {
			r := one(t, quick(), small(Point{
				Workload: slowly{prompts{16, 4}, 20 * time.Millisecond},
				Arrivals: arrival.Constant{Rate: 100}, Requests: 300, ClientLimit: limit,
			}))
			assert.Equal(t, metric.ClientLimited, r.Client.Verdict, limit)
			last := window(r)[299]
			assert.Zero(t, last.Released)
			lag, _ := last.Lag()
			assert.Equal(t, 300*20*time.Millisecond-(lead+299*10*time.Millisecond), lag, limit)
		})
	}
}

func TestLagIsRecordedAndJudged(t *testing.T) {
	for _, c := range []struct {
		name  string
		late  time.Duration
		every int
		want  []string
	}{
		{"every tenth 5 ms late: the limit itself", 5 * time.Millisecond, 10, []string{}},
		{"every tenth 6 ms late", 6 * time.Millisecond, 10, []string{kindClient}},
		{"one in two hundred 6 ms late: below the p99", 6 * time.Millisecond, 200, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := &script{first: time.Millisecond, sends: func(n int) {
					if n > 0 && n%c.every == 0 { // the first is the ready check
						time.Sleep(c.late)
					}
				}}
				r := one(t, engine, small(Point{
					Workload: prompts{16, 1},
					Arrivals: arrival.Constant{Rate: 100}, Requests: 400,
				}))
				late := 0
				for _, q := range window(r) {
					if q.Sent-q.Scheduled == c.late {
						late++
					} else {
						require.Equal(t, q.Scheduled, q.Sent)
					}
				}
				assert.Equal(t, 400/c.every, late)
				assert.Equal(t, c.want, kinds(r))
			})
		})
	}
}

// A sender that manages 600 of 1,000 requests a second is measured, not the
// server.
func TestASaturatedGeneratorIsNoValidRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var free atomic.Int64 // when the sender can send again
		start := time.Now()
		engine := &script{first: time.Millisecond, sends: func(int) {
			now := int64(time.Since(start))
			at := max(now, free.Load())
			free.Store(at + int64(time.Second)/600)
			time.Sleep(time.Duration(at - now))
		}}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 1000}, Requests: 2000,
		}))
		assert.Equal(t, []string{kindClient, kindClient}, kinds(r))
		assert.Contains(t, r.Problems[1].Text, "achieved ÷ offered is 0.600 (2000 of 2000 sent, over 3.3s for 2s planned), want at least 0.990")
	})
}

func TestACapRefusesAndMakesTheRunInvalid(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: time.Second}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1},
			Arrivals: arrival.Constant{Rate: 10}, Requests: 20, MaxInFlight: 8,
		}))
		refused := 0
		for _, q := range window(r) {
			if q.Failure == failCapped {
				refused++
				assert.Zero(t, q.Sent)
			}
		}
		assert.Equal(t, 4, refused, "8 of every 10 fit")
		assert.Equal(t, 8, engine.peak)
		assert.Equal(t, []string{kindCapped}, kinds(r), "none of them is an error of the engine's")
		assert.Equal(t, 0.8, r.Client.Readings["achieved"])
		assert.Equal(t, metric.ClientLimited, r.Client.Verdict)
		assert.Equal(t, []string{"4 of 20 requests were not sent because 8 were in flight, and achieved ÷ offered is 0.800: lower the load or raise Point.MaxInFlight"}, r.Client.Reasons)
	})
}
