package benchtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

func TestAWholeRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := struct {
			*script
			*flusher
			*describer
		}{quick(), &flusher{flush: func(int) (engines.Flush, error) {
			return engines.Flush{Outcome: engines.Flushed, Detail: "POST /flush: success"}, nil
		}}, &describer{engines.Identity{Engine: "script", Model: "model", Hardware: "none"}}}
		p := usual()
		p.Runs = 2
		runs, err := Run(t.Context(), engine, p, Options{Test: "TestAWholeRun"})
		require.NoError(t, err)
		require.Len(t, runs.Records, 2)
		for i, r := range runs.Records {
			assert.Empty(t, r.Problems)
			assert.Empty(t, r.Warnings)
			assert.Equal(t, i, r.Run)
			assert.Equal(t, pairSeed(p.Hash(), 0, i), r.Seed)
			assert.Equal(t, 50, r.WarmupRequests)
			assert.Equal(t, lead+5*time.Second, r.From)
			assert.Equal(t, lead+15*time.Second, r.To)
			assert.Equal(t, "flushed", r.Flush)
			assert.Equal(t, "requests", r.CacheProof)
			assert.Equal(t, []metric.Pair{{Key: "engine", Value: "script"}, {Key: "model", Value: "model"}, {Key: "hardware", Value: "none"}}, r.Key)
			assert.True(t, r.Virtual)
			assert.Zero(t, r.GapCV2)
		}
		assert.Equal(t, 2, engine.flusher.n)
		noContentTwice(t, engine.seen)
	})
}

// noContentTwice: whatever a cache holds of one prompt, no other is served by
// it.
func noContentTwice(t *testing.T, seen []engines.Request) {
	t.Helper()
	prompts, ids := map[string]bool{}, map[string]bool{}
	for _, r := range seen {
		prompt := fmt.Sprint(r.Tokens)
		assert.False(t, prompts[prompt], "%s sends a prompt for the second time", r.ID)
		assert.False(t, ids[r.ID], "%s is an id for the second time", r.ID)
		prompts[prompt], ids[r.ID] = true, true
	}
}

// The same point measured again on the same start does the same work with
// other content; and a bubble is exactly reproducible.
func TestRunsAreReplayedWithOtherContent(t *testing.T) {
	measure := func(t *testing.T) (engine *script, records []*metric.Record) {
		inBubble(t, func(t *testing.T) {
			engine = quick()
			for range 2 {
				p := usual()
				p.Arrivals = arrival.Poisson{Rate: 10}
				records = append(records, one(t, engine, p))
			}
		})
		return engine, records
	}
	engine, records := measure(t)
	noContentTwice(t, engine.seen)
	first, second := records[0], records[1]
	require.Len(t, second.Requests, len(first.Requests))
	for i := range first.Requests {
		require.Equal(t, first.Requests[i].Scheduled, second.Requests[i].Scheduled)
	}
	again, same := measure(t)
	assert.Equal(t, records, same)
	for i := range engine.seen {
		engine.seen[i].Stamp, again.seen[i].Stamp = nil, nil
	}
	assert.ElementsMatch(t, engine.seen, again.seen)
}

func TestWhatHappensInTheWindow(t *testing.T) {
	t.Run("a compilation", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			engine := struct {
				*script
				*compiler
			}{quick(), &compiler{[]int{7, 9, 12}}} // at the start and at the window's edges
			r := one(t, engine, usual())
			require.Equal(t, []string{kindCompiled}, kinds(r))
			assert.Equal(t, "3 compile events fell into the window: raise Point.Warmup from 50, so that every shape is compiled before", r.Problems[0].Text)
		})
	})
	t.Run("a restart", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			engine := struct {
				*script
				*scraper
			}{quick(), &scraper{scrape: func(n int) (engines.Counters, error) {
				return engines.Counters{Instance: []string{"a", "a", "a", "b", "b"}[n]}, nil
			}}}
			r := one(t, engine, usual())
			assert.Equal(t, []string{kindRestarted}, kinds(r))
		})
	})
	t.Run("counters", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			engine := struct {
				*script
				*scraper
			}{quick(), &scraper{scrape: func(n int) (engines.Counters, error) {
				return engines.Counters{PromptTokens: engines.Known(1600 * n), CacheQueries: engines.Known(n), Preemptions: engines.Count{N: n, Known: n < 3}}, nil
			}}}
			r := one(t, engine, usual())
			assert.Empty(t, r.Problems)
			assert.Equal(t, map[string]float64{"prompt_tokens": 1600, "cache_queries": 1}, r.Counters, "what one edge does not know is unknown")
		})
	})
}
