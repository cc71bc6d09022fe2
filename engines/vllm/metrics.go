package vllm

import (
	"context"
	"fmt"
	"strconv"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// Load implements engines.Loader from the gauges of /metrics, summed over
// engines. They are unknown where the server runs with --disable-log-stats, or
// its page is hidden.
func (e *Engine) Load(ctx context.Context) (engines.Load, error) {
	page, err := e.s.Metrics(ctx)
	if err != nil {
		return engines.Load{}, fmt.Errorf("load of vllm: %w", err)
	}
	return load(page), nil
}

func load(page *openai.Page) engines.Load {
	return engines.Load{
		Running: page.Count("vllm:num_requests_running"),
		Waiting: page.Count("vllm:num_requests_waiting"),
	}
}

// Scrape implements engines.Scraper from the counters of /metrics, summed
// over engines. CacheHits are the tokens served by the prefix cache and, where
// there is a KV connector, by the tiers behind it.
func (e *Engine) Scrape(ctx context.Context) (engines.Counters, error) {
	page, err := e.s.Metrics(ctx)
	if err != nil {
		return engines.Counters{}, fmt.Errorf("scrape vllm: %w", err)
	}
	c := counters(page)
	if own := e.s.Instance(); own != "" {
		c.Instance = own
	}
	return c, nil
}

func counters(page *openai.Page) engines.Counters {
	c := engines.Counters{
		PromptTokens: page.Count("vllm:prompt_tokens"),
		OutputTokens: page.Count("vllm:generation_tokens"),
		Requests:     page.Count("vllm:request_success"),
		CacheQueries: page.Count("vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"),
		CacheHits:    page.Count("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"),
		Preemptions:  page.Count("vllm:num_preemptions"),
	}
	// A miss in the device's cache may be a hit behind the connector.
	if external := page.Count("vllm:external_prefix_cache_hits"); c.CacheHits.Known && external.Known {
		c.CacheHits.N += external.N
	}
	// The start of the process that serves the page; with several API servers
	// the page has none.
	if at, ok := page.Sum("process_start_time_seconds"); ok {
		c.Instance = "started " + strconv.FormatFloat(at, 'f', 2, 64)
	}
	return c
}
