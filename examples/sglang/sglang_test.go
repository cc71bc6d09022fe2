//go:build gpu

package sglang

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/regressions"
)

var (
	config = sglang.Config{
		Model: "meta-llama/Meta-Llama-3-8B-Instruct",
		GPUs:  "all", // never on the processor instead
		Args:  []string{"--max-running-requests", "64", "--random-seed", "0"},
	}
	// The tests share one server, which takes minutes to start.
	server = fixtures.Shared{Start: func(ctx context.Context) (engines.Engine, func(context.Context) error, error) {
		return sglang.Launch(ctx, config)
	}}
	chat = fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)}
	slo  = benchtest.SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}
)

// TestMain ends the server, if a test has asked for it.
func TestMain(m *testing.M) { os.Exit(fixtures.Main(m, &server)) }

// Is the engine slower? Asked where it is quiet.
func TestDecodeDidNotSlowDown(t *testing.T) {
	engine := server.Engine(t)
	runs := benchtest.Measure(t, engine, benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300,
	})
	require.Valid(t, runs)
	assert.NoRegression(t, runs, regressions.Gate{Margin: 0.05})
}

// Does it still hold its SLO? Asked near the knee.
func TestHoldsItsSLO(t *testing.T) {
	engine := server.Engine(t)
	runs := benchtest.Measure(t, engine, benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 12.5}, Window: 3 * time.Minute,
	})
	require.Valid(t, runs)
	assert.Sustained(t, runs)
	assert.Goodput(t, runs, slo, 11.75)
}
