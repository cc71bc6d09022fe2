package benchtest

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// sentFrom is when the requests of a record left, in order and from the zero of
// the schedule.
func sentFrom(r *metric.Record) []time.Duration {
	var times []time.Duration
	for i := range r.Requests {
		times = append(times, r.Requests[i].Sent-lead)
	}
	slices.Sort(times)
	return times
}

// What leaves is the process that was asked for, in mean and in dispersion,
// although each send takes up to 60 µs: arrivals do not add up what sending
// costs, and do not fall into step with it.
func TestWhatLeavesIsTheProcessAskedFor(t *testing.T) {
	for _, process := range []arrival.Process{
		arrival.Poisson{Rate: 2000}, arrival.Gamma{Rate: 2000, Burstiness: 0.25}, arrival.Gamma{Rate: 2000, Burstiness: 4},
	} {
		t.Run(arrival.String(process), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := &script{first: time.Millisecond, sends: func(n int) {
					time.Sleep(time.Duration(derive("cost", uint64(n))%60) * time.Microsecond)
				}}
				r := one(t, engine, small(Point{Workload: prompts{1, 1}, Arrivals: process, Requests: 20_000}))
				require.NoError(t, arrival.SelfTest(sentFrom(r), process))
				assert.Equal(t, metric.ClientOK, r.Client.Verdict)
				c := r.Client.Readings
				assert.InDelta(t, 1, c["sent_gap_cv2"]/r.GapCV2, 0.05)
				assert.InDelta(t, c["planned_burst"], c["sent_burst"], 0.02)
				assert.Less(t, c["lag_max_sec"], 60e-6)
				assert.Less(t, 1-c["achieved"], 60e-6/10, "of ten seconds, less than one send")
			})
		})
	}
}

// Ten thousand a second: each is due to the nanosecond, and the
// last is as true as the first.
func TestTenThousandASecondDoNotDrift(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const n = 60_000
		r := one(t, &script{}, small(Point{Workload: prompts{1, 1}, Arrivals: arrival.Constant{Rate: 10_000}, Requests: n}))
		for i, q := range window(r) {
			if want := lead + time.Duration(i)*100*time.Microsecond; q.Sent != want {
				t.Fatalf("request %d left at %v, want %v", i, q.Sent, want)
			}
		}
		c := r.Client.Readings
		assert.Equal(t, []float64{0, 1, 0, 1, 1}, []float64{c["lag_max_sec"], c["achieved"], c["sent_gap_cv2"], c["sent_burst"], c["planned_burst"]})
		assert.Equal(t, 6*time.Second, r.To-r.From)
	})
}

// A sender that is stopped for half a second and then makes up for it has the
// rate that was asked for, and bursts that were not.
func TestBunchesShow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var until atomic.Int64
		begun := time.Now()
		engine := &script{first: time.Millisecond, sends: func(n int) {
			if n == 101 { // the ready check is the first
				until.Store(int64(time.Since(begun) + 500*time.Millisecond))
			}
			time.Sleep(time.Duration(until.Load()) - time.Since(begun))
		}}
		r := one(t, engine, small(Point{Workload: prompts{1, 1}, Arrivals: arrival.Constant{Rate: 100}, Requests: 1000}))
		c := r.Client.Readings
		assert.Equal(t, 1.0, c["planned_burst"])
		assert.Equal(t, 6.0, c["sent_burst"], "fifty at once, and ten of the 100 ms after them")
		assert.Equal(t, metric.ClientLimited, r.Client.Verdict)
		assert.Equal(t, []string{"requests left 400ms late (p99 of sent − scheduled over 1000), limit 5ms: this host could not send on time; give it more CPU, lower the load or raise Limits.Lag"}, r.Client.Reasons)
	})
}
