package benchtest

import (
	"context"
	"math"
	"runtime/metrics"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// counterScheduler is the key of the p99 of how long goroutines waited to run.
const counterScheduler = "client_scheduler_p99_sec"

// edgeLimit bounds the reading of counters at an edge of the window.
const edgeLimit = 10 * time.Second

// edge is what the engine, and this process, count at one edge of the window.
type edge struct {
	counters engines.Counters
	scraped  bool
	compiles engines.Count
	// latencies is the histogram of the Go scheduler; nil in virtual time.
	latencies *metrics.Float64Histogram
	err       error
	// devices is what the engine's devices did up to this edge from the other.
	devices   map[string]float64
	deviceErr error
}

// readEdge reads the counters that the engine has.
func readEdge(ctx context.Context, engine engines.Engine, virtual bool) (e edge) {
	ctx, cancel := context.WithTimeout(ctx, edgeLimit)
	defer cancel()
	if !virtual {
		e.latencies = schedulerLatencies()
	}
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
	if p99, ok := latencyBetween(from.latencies, to.latencies, 0.99); ok {
		out[counterScheduler] = p99
	}
	return out
}

// schedulerLatencies is how long goroutines of this process were runnable
// before they ran. A client that is short of CPU stamps late by as much.
func schedulerLatencies() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return sample[0].Value.Float64Histogram()
}

// latencyBetween is the quantile of what was added to the histogram between
// two readings, as the upper end of its bucket.
func latencyBetween(a, b *metrics.Float64Histogram, q float64) (float64, bool) {
	if a == nil || b == nil || len(a.Counts) != len(b.Counts) {
		return 0, false
	}
	var total uint64
	for i := range b.Counts {
		total += b.Counts[i] - a.Counts[i]
	}
	if total == 0 {
		return 0, false
	}
	rank := uint64(math.Ceil(q * float64(total)))
	var sum uint64
	for i := range b.Counts {
		sum += b.Counts[i] - a.Counts[i]
		if sum >= rank {
			upper := b.Buckets[i+1]
			if math.IsInf(upper, 1) {
				upper = b.Buckets[i]
			}
			return upper, true
		}
	}
	return 0, false
}
