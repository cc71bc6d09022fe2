package benchtest_test

import (
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// A long run keeps its requests and nothing else: what it holds in the end is
// the same for each request however many there were. OPENLOOP_CALIBRATE=1 runs
// for an hour of virtual time at 100 requests/s, over HTTP in memory.
func TestARunHoldsItsRequestsAndNoMore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const (
		tokens = 16
		// most bounds what is kept of a request of 16 tokens: its times, its
		// counts and its gaps.
		most = 3 << 10
	)
	windows := []time.Duration{30 * time.Second, time.Minute}
	if os.Getenv("OPENLOOP_CALIBRATE") != "" {
		windows = []time.Duration{time.Minute, time.Hour}
	}
	for _, window := range windows {
		var requests int
		var kept, goroutines int
		synctest.Test(t, func(t *testing.T) {
			engine := sim.New(t, sim.Config{Noise: sim.Quiet, DevMode: true})
			before, running := held(), runtime.NumGoroutine()
			runs, err := benchtest.Run(t.Context(), engine, benchtest.Point{
				Workload: fixtures.Lengths{Prompt: fixtures.Fixed(64), Output: fixtures.Fixed(tokens)},
				Arrivals: arrival.Poisson{Rate: 100}, Window: window, Runs: 1,
			}, benchtest.Options{})
			require.NoError(t, err)
			kept, goroutines = held()-before, runtime.NumGoroutine()-running
			record := runs.Records[0]
			requests = len(record.Requests)
			assert.True(t, record.Valid(), "%v", record.Problems)
			for _, q := range record.Counted() {
				if q.Failure != "" || q.Events != tokens {
					t.Fatalf("request %s: %d events, failure %q", q.ID, q.Events, q.Failure)
				}
			}
			runtime.KeepAlive(runs)
		})
		t.Logf("%v at 100 requests/s: %d requests, %.1f MiB held at the end, %d B a request, %d more goroutines",
			window, requests, float64(kept)/(1<<20), kept/requests, goroutines)
		assert.InEpsilon(t, 100*window.Seconds(), requests, 0.3, "with those before and after the window")
		assert.Less(t, kept/requests, most)
		assert.Less(t, goroutines, 200, "connections that are idle, and none for each request")
	}
}

// held is the heap that is in use once what nobody needs has been collected.
func held() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
