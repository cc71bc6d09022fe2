package benchtest

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// On a real clock nothing leaves early, and no goroutine stays behind.
func TestOnARealClock(t *testing.T) {
	before := runtime.NumGoroutine()
	p := small(Point{
		Workload: prompts{16, 3}, Arrivals: arrival.Poisson{Rate: 200}, Requests: 60,
		Limits: Limits{Lag: time.Hour, Achieved: 0.001},
	})
	r := one(t, real{&script{first: 5 * time.Millisecond, gap: time.Millisecond}}, p)
	assert.False(t, r.Virtual)
	for _, q := range window(r) {
		require.Empty(t, q.Failure)
		require.GreaterOrEqual(t, q.Sent, q.Scheduled)
		require.GreaterOrEqual(t, q.FirstToken-q.Sent, 5*time.Millisecond)
		require.GreaterOrEqual(t, q.LastToken-q.FirstToken, 2*time.Millisecond)
		require.GreaterOrEqual(t, q.Closed, q.LastToken)
	}
	for _, name := range []string{"lag_p50_sec", "lag_p99_sec", "lag_max_sec", "achieved", "sent_gap_cv2", "sent_burst", "planned_burst", readScheduler, readWake, readWakeMax, readStoppedShare, readStoppedMax, readProcess, readCPUs} {
		assert.Contains(t, r.Client.Readings, name)
	}
	assert.Equal(t, metric.ClientOK, r.Client.Verdict, "%v", r.Client.Reasons)
	assert.Less(t, time.Since(r.Time), time.Minute, "the wall clock is a label")
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "%d goroutines, %d before", runtime.NumGoroutine(), before)
	}
}
