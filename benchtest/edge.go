package benchtest

import (
	"context"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// edgeLimit bounds the reading of counters at an edge of the window.
const edgeLimit = 10 * time.Second

// edge is what the engine and this side count at one edge of the window.
type edge struct {
	counters engines.Counters
	scraped  bool
	compiles engines.Count
	// local is what this side counted; nil in virtual time.
	local *local
	err   error
	// devices is what the engine's devices did up to this edge from the other.
	devices   map[string]float64
	deviceErr error
}

// readEdge reads the counters that the engine has.
func readEdge(ctx context.Context, engine engines.Engine) (e edge) {
	ctx, cancel := context.WithTimeout(ctx, edgeLimit)
	defer cancel()
	if s, ok := engine.(engines.Scraper); ok {
		e.counters, e.err = s.Scrape(ctx)
		e.scraped = e.err == nil
	}
	if l, ok := engine.(engines.Logger); ok {
		if n, err := l.CompileEvents(ctx); err == nil {
			e.compiles = n
		}
	}
	return e
}

// counters over the window: what both edges know. Keys that only one of them
// knows are unknown, and absent.
func counted(from, to edge) map[string]float64 {
	out := map[string]float64{}
	diff := func(key string, a, b engines.Count) {
		if a.Known && b.Known {
			out[key] = float64(b.N - a.N)
		}
	}
	a, b := from.counters, to.counters
	diff("prompt_tokens", a.PromptTokens, b.PromptTokens)
	diff("output_tokens", a.OutputTokens, b.OutputTokens)
	diff("cache_queries", a.CacheQueries, b.CacheQueries)
	diff("cache_hits", a.CacheHits, b.CacheHits)
	diff("preemptions", a.Preemptions, b.Preemptions)
	diff("compile_events", from.compiles, to.compiles)
	return out
}
