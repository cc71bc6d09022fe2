//go:build !race && !asan && !msan

package benchtest

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// TestBallast: after a measurement on a real clock as much again as the ballast
// is allocated before the collector runs.
func TestBallast(t *testing.T) {
	percent, limit := gcPercent(), min(debug.SetMemoryLimit(-1), cgroupMemory())
	if percent < 100 || ballastFor(percent, limit) < ballastSize {
		t.Skipf("GOGC is %d and memory is limited to %d bytes: there is less ballast then, or it does less", percent, limit)
	}
	_, err := Run(context.Background(), real{quick()}, Point{
		Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 1000}, Requests: 10, Settle: -1, Warmup: -1, Runs: 1,
	}, Options{})
	require.NoError(t, err)
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	goal, live := sample[0].Value.Uint64(), sample[1].Value.Uint64()
	assert.GreaterOrEqual(t, live, uint64(ballastSize))
	assert.GreaterOrEqual(t, goal, live+ballastSize)
}

func TestBallastFor(t *testing.T) {
	const gib = 1 << 30
	for what, tt := range map[string]struct {
		percent uint64
		limit   int64
		want    int
	}{
		"as usual":               {100, math.MaxInt64, 64 << 20},
		"a smaller GOGC":         {50, gib, 64 << 20},
		"a larger one":           {400, gib, 16 << 20},
		"no collector":           {math.MaxUint64, math.MaxInt64, 0},
		"a container of 128 MiB": {100, 128 << 20, 0},
		"a little less than 1 G": {100, gib - 1, 0},
	} {
		assert.Equal(t, tt.want, ballastFor(tt.percent, tt.limit), what)
	}
}
