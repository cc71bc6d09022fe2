package benchtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// The embedded engine, in arithmetic and over HTTP, serves probes at the same
// times; near the knee a newcomer waits longer than at a quiet load.
func TestProbesOnTheEmbeddedEngine(t *testing.T) {
	p50 := map[float64]float64{}
	for _, rate := range []float64{2, 12.5} {
		p := benchtest.Point{
			Workload: fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(64)},
			Arrivals: arrival.Poisson{Rate: rate}, Requests: 200, ProbeRate: 2, Runs: 1,
		}
		model, err := sim.NewModel(sim.Config{DevMode: true})
		require.NoError(t, err)
		runs, err := benchtest.Run(t.Context(), model, p, benchtest.Options{})
		require.NoError(t, err)
		computed := runs.Records[0]
		synctest.Test(t, func(t *testing.T) {
			runs, err := benchtest.Run(t.Context(), sim.New(t, sim.Config{DevMode: true}), p, benchtest.Options{})
			require.NoError(t, err)
			assert.Equal(t, times(computed.Probes), times(runs.Records[0].Probes))
			assert.Equal(t, times(computed.Requests), times(runs.Records[0].Requests))
		})
		p50[rate], err = computed.Value("p50-probe-ttft-sec")
		require.NoError(t, err)
	}
	assert.Greater(t, p50[12.5], p50[2])
	assert.Less(t, p50[2], 0.040, "less than a prefill of the load takes")
}

// times are those that an engine decides.
func times(lines []metric.Timeline) (all [][3]time.Duration) {
	for _, l := range lines {
		all = append(all, [3]time.Duration{l.Scheduled, l.FirstToken, l.LastToken})
	}
	return all
}
