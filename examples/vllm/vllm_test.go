//go:build gpu

package vllm

import (
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/vllm"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/regressions"
)

var (
	server = vllm.Config{
		Model: "meta-llama/Meta-Llama-3-8B-Instruct",
		GPUs:  "all", // never on the processor instead
		Args:  []string{"--max-num-seqs", "64", "--seed", "0"},
	}
	chat = fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)}
	slo  = benchtest.SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}
)

// Is the engine slower? Asked where it is quiet.
func TestDecodeDidNotSlowDown(t *testing.T) {
	engine := vllm.Start(t, server)
	runs := benchtest.Measure(t, engine, benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300,
	})
	require.Valid(t, runs)
	assert.NoRegression(t, runs, regressions.Gate{Margin: 0.05})
}

// Does it still hold its SLO? Asked near the knee.
func TestHoldsItsSLO(t *testing.T) {
	engine := vllm.Start(t, server)
	runs := benchtest.Measure(t, engine, benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 12.5}, Window: 3 * time.Minute,
	})
	require.Valid(t, runs)
	assert.Sustained(t, runs)
	assert.Goodput(t, runs, slo, 11.75)
}
