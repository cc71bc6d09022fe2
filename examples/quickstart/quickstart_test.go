package quickstart

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/regressions"
)

var (
	chat = fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)}
	slo  = benchtest.SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}
)

// Is the engine slower? Asked where it is quiet.
func TestDecodeDidNotSlowDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // virtual time: minutes take seconds
		engine := sim.New(t, config(t))
		runs := benchtest.Measure(t, engine, benchtest.Point{
			Workload: chat, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300,
		})
		require.Valid(t, runs)
		assert.NoRegression(t, runs, regressions.Gate{Margin: 0.05})
	})
}

// Does it still hold its SLO? Asked near the knee.
func TestHoldsItsSLO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := sim.New(t, config(t))
		runs := benchtest.Measure(t, engine, benchtest.Point{
			Workload: chat, Arrivals: arrival.Poisson{Rate: 12.5}, Requests: 2000, Settle: 400,
		})
		require.Valid(t, runs)
		assert.Sustained(t, runs)
		assert.Goodput(t, runs, slo, 11.75)
	})
}
