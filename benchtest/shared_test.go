package benchtest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// alone is a point of short runs.
func alone() benchtest.Point {
	return benchtest.Point{
		Workload: fixtures.Lengths{Prompt: fixtures.Fixed(256), Output: fixtures.Fixed(32)},
		Arrivals: arrival.Poisson{Rate: 8}, Requests: 100, Runs: 1,
	}
}

// measured is the only run of a point.
func measured(t *testing.T, engine engines.Engine, p benchtest.Point) *metric.Record {
	t.Helper()
	runs, err := benchtest.Run(t.Context(), engine, p, benchtest.Options{Log: t.Logf})
	require.NoError(t, err)
	return runs.Records[0]
}

// neighbour sends requests one after the other, with pauses, until it is called
// off.
func neighbour(ctx context.Context, engine engines.Engine, prompt, output int, pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var one sync.WaitGroup
	one.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			tokens := make([]int32, prompt)
			for k := range tokens {
				tokens[k] = int32(1 + (i*prompt+k)%20000)
			}
			_, _ = engine.Generate(ctx, &engines.Request{ID: fmt.Sprintf("n%d", i), Tokens: tokens, MaxTokens: output, IgnoreEOS: true}, func(engines.Chunk) {})
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	})
	return func() { cancel(); one.Wait() }
}

// Others' requests are seen by what the server counts, whatever is large about
// them, whichever server it is, and with whatever it leaves out.
func TestAServerThatServesOthersMeanwhile(t *testing.T) {
	for _, row := range []struct {
		name           string
		config         sim.Config
		prompt, output int
		pause          time.Duration
		want           string // of the text; empty is none
	}{
		{"prompts, vLLM", sim.Config{}, 120, 2, 100 * time.Millisecond, "prompt tokens in this run"},
		{"prompts, SGLang", sim.Config{Flavor: sim.SGLang}, 120, 2, 100 * time.Millisecond, "prompt tokens in this run"},
		{"outputs", sim.Config{}, 2, 100, 100 * time.Millisecond, "output tokens in this run"},
		{"many that are small", sim.Config{}, 1, 1, 500 * time.Millisecond, "requests in this run"},
		{"many that are small, SGLang", sim.Config{Flavor: sim.SGLang}, 1, 1, 500 * time.Millisecond, "requests in this run"},
		{"one that is small", sim.Config{}, 100, 2, time.Hour, ""},
		{"a server that counts nothing", sim.Config{Flavor: sim.TensorRTLLM}, 120, 2, 100 * time.Millisecond, ""},
		{"without metrics", sim.Config{Faults: sim.Faults{Protocol: sim.Protocol{NoMetrics: true}}}, 120, 2, 100 * time.Millisecond, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row.config.DevMode = true
				engine := sim.New(t, row.config)
				stop := neighbour(t.Context(), engine, row.prompt, row.output, row.pause)
				p := alone()
				p.Cache = benchtest.Warm // else a flush is refused for ever
				r := measured(t, engine, p)
				stop()
				var shared []string
				for _, p := range r.Problems {
					if p.Kind == "shared" {
						shared = append(shared, p.Text)
					}
				}
				if row.want == "" {
					assert.Empty(t, shared)
					return
				}
				require.Len(t, shared, 1)
				assert.Contains(t, shared[0], row.want)
			})
		})
	}
}
