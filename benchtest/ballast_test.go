//go:build !race && !asan && !msan

package benchtest

import (
	"context"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// TestBallast: after a measurement on a real clock as much again as the ballast
// is allocated before the collector runs.
func TestBallast(t *testing.T) {
	_, err := Run(context.Background(), real{quick()}, Point{
		Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 1000}, Requests: 10, Settle: -1, Warmup: -1, Runs: 1,
	}, Options{})
	require.NoError(t, err)
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	if percent := sample[2].Value.Uint64(); percent < 100 {
		t.Skipf("GOGC is %d", percent)
	}
	goal, live := sample[0].Value.Uint64(), sample[1].Value.Uint64()
	assert.GreaterOrEqual(t, live, uint64(ballastSize))
	assert.GreaterOrEqual(t, goal, live+ballastSize)
}
