//go:build llamacpp

package llamacpp

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/llamacpp"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/fixtures"
)

var (
	chat = fixtures.Lengths{Prompt: fixtures.Fixed(32), Output: fixtures.Fixed(8)}
	slo  = benchtest.SLO{TTFT: 3 * time.Second, TPOT: 300 * time.Millisecond}

	// shared are the limits for a load that is made on the server's own host:
	// requests leave late whenever the server takes all of it. Latencies run
	// from the schedule, so that what is late counts.
	shared = benchtest.Limits{Lag: 200 * time.Millisecond, Achieved: 0.95}
)

// server is the server that the environment names.
func server(t *testing.T) llamacpp.Config {
	t.Helper()
	program, model := os.Getenv("OPENLOOP_LLAMACPP_SERVER"), os.Getenv("OPENLOOP_LLAMACPP_MODEL")
	if program == "" || model == "" {
		t.Fatalf("no server to measure: set OPENLOOP_LLAMACPP_SERVER to a llama-server, got %q, and OPENLOOP_LLAMACPP_MODEL to a .gguf file, got %q; .ci/real-servers installs both", program, model)
	}
	return llamacpp.Config{
		Model: model, Command: []string{program},
		Threads: max(1, runtime.NumCPU()/2), Parallel: 4, ContextSize: 4 * 1024,
		StartBudget: 3 * time.Minute,
	}
}

// Does it hold its SLO at a low rate, with requests that come when they come?
func TestHoldsItsSLO(t *testing.T) {
	engine := llamacpp.Start(t, server(t))
	runs := benchtest.Measure(t, engine, benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 1}, Requests: 20, Warmup: 5, Settle: 10,
		Runs: 1, Cache: benchtest.ProvedCold, Limits: shared,
	})
	require.Valid(t, runs)
	assert.Attainment(t, runs, slo, 0.9)
}

// The same server, through the client for any server of its kind.
func TestThroughTheOpenAIClient(t *testing.T) {
	started := llamacpp.Start(t, server(t)).(interface{ URL() string })
	engine, err := openai.Attach(t.Context(), openai.Config{URL: started.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	runs := benchtest.Measure(t, engine, benchtest.Point{
		Workload: chat, Closed: benchtest.Closed{InFlight: 1}, Requests: 15, Warmup: 2, Settle: 2,
		Runs: 1, Cache: benchtest.ProvedCold, Limits: shared,
	})
	require.Valid(t, runs)
	for _, request := range runs.Records[0].Counted() {
		if request.CachedTokens != 0 || request.PromptTokens != 32 || request.OutputTokens != 8 {
			t.Errorf("%s: %d of %d prompt tokens from the cache, %d generated; want 0 of 32, 8",
				request.ID, request.CachedTokens, request.PromptTokens, request.OutputTokens)
		}
	}
}
