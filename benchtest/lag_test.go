package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// Lag has one meaning: the metric, the reading of the record and what the judge
// holds against the limit are without the wait for a connection, which TTFT has in
// it.
func TestTheWaitForAConnectionIsInNoLag(t *testing.T) {
	r := good()
	for i := range r.Requests {
		q := &r.Requests[i]
		q.NewConnection, q.Connect = true, 12*time.Millisecond
		q.Sent += 3*time.Millisecond + q.Connect
		q.FirstToken, q.LastToken, q.Closed = q.FirstToken+15*time.Millisecond, q.LastToken+15*time.Millisecond, q.Closed+15*time.Millisecond
	}
	value := func(name string) float64 {
		v, err := r.Value(name)
		require.NoError(t, err)
		return v
	}
	assert.Equal(t, 0.003, value("max-lag-sec"))
	assert.Equal(t, []float64{0.035, 0.032}, []float64{value("max-ttft-sec"), value("max-service-ttft-sec")}, "it is TTFT without the lag, and with the wait")

	readings := map[string]float64{}
	(&judge{r: r, window: window(r)}).sentReadings(readings)
	assert.Equal(t, []float64{0.003, 0.003, 0.003}, []float64{readings["lag_p50_sec"], readings["lag_p99_sec"], readings["lag_max_sec"]})

	p := Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100}
	p.Limits.Lag = 3 * time.Millisecond
	problems, _ := Judge(r, p)
	assert.Empty(t, problems)
	p.Limits.Lag--
	problems, _ = Judge(r, p)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Text, "requests left 3ms late (p99 of sent − scheduled over 100; waits for a connection, the longest 12ms, are not in it), limit 2.999999ms: this host could not send on time")
}
