package realtime

import (
	"math"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
	"github.com/openloop-go/openloop/fixtures"
)

var (
	// The engine takes about 20 ms a step, as a large model does. It has no
	// noise of its own, so that what differs below is the clock.
	config = sim.Config{
		DevMode: true, DecodeSlowdown: 4,
		Noise: sim.Noise{Start: -1, Run: -1, Step: -1},
	}
	point = benchtest.Point{
		Workload: fixtures.Lengths{Prompt: fixtures.Fixed(512), Output: fixtures.Fixed(48)},
		Arrivals: arrival.Poisson{Rate: 15}, Capacity: 30,
		Requests: 120, Settle: 70, Warmup: 50, Runs: 2, Drain: 10 * time.Second,
		// Server, client and whatever else this host does share its cores.
		Limits: benchtest.Limits{Lag: 50 * time.Millisecond},
	}
)

// The same point on a real clock over a real port, and in virtual time over
// memory: the same arrivals and lengths, so the metrics differ by how late the
// host wakes whoever sleeps, and by nothing else. The driver measures that
// lateness as lag, so the tolerance is taken from the same run.
func TestRealClockAgreesWithVirtualTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute of real time; -short is set")
	}
	runs := benchtest.Measure(t, listen(t), point)
	for _, record := range runs.Records {
		for _, problem := range record.Problems {
			if problem.Kind == "client-limited" {
				t.Skipf("nothing was compared, since this host is too busy to measure: %s", problem.Text)
			}
		}
	}
	require.Valid(t, runs)
	assert.Latency(t, runs, "p50-e2e-sec", 2*time.Second)

	var virtual *benchtest.Runs
	synctest.Test(t, func(t *testing.T) {
		virtual = benchtest.Measure(t, sim.New(t, config), point)
	})
	require.Valid(t, virtual)

	late := mean(t, runs, "p90-lag-sec")
	for _, want := range []struct {
		name   string
		within float64 // relative, on a clock that is never late
		waits  float64 // how often the value can wait for a late wake-up
	}{
		{"p50-tpot-sec", 0.03, 1},
		{"p50-e2e-sec", 0.03, 48},
		{"p50-service-ttft-sec", 0.03, 4},
		{"mean-output-tokens", 0, 0},
		{"mean-prompt-tokens", 0, 0},
	} {
		got, should := mean(t, runs, want.name), mean(t, virtual, want.name)
		slack := want.within*should + want.waits*late
		t.Logf("%-22s real %.6g, virtual %.6g, %+.1f %% (tolerance %.1f %%)",
			want.name, got, should, 100*(got/should-1), 100*slack/should)
		if !(math.Abs(got-should) <= slack) {
			t.Errorf("%s: real %.6g, virtual %.6g, want at most %.6g apart (wake-ups are %.2g s late)",
				want.name, got, should, slack, late)
		}
	}
}

// listen serves the engine on a port and attaches to it as to any vLLM.
func listen(t *testing.T) *vllm.Engine {
	t.Helper()
	server, err := sim.NewServer(config)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	engine, err := vllm.Attach(t.Context(), vllm.Config{URL: "http://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func mean(t *testing.T, runs *benchtest.Runs, name string) float64 {
	t.Helper()
	value, err := metric.PooledValue(name, runs.Records...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
