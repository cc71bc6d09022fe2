package sglang

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// Load implements engines.Loader from /v1/loads, summed over data-parallel
// ranks, which asks the scheduler; else from the gauges of /metrics, which it
// refreshes only now and then. Where there is neither the load is unknown.
func (e *Engine) Load(ctx context.Context) (engines.Load, error) {
	answer, err := e.s.Client().Do(ctx, "GET", "/v1/loads", nil)
	if err != nil {
		return engines.Load{}, fmt.Errorf("load of sglang: %w", err)
	}
	if l := loads(answer); l.Running.Known && l.Waiting.Known {
		return l, nil
	}
	page, err := e.s.Metrics(ctx)
	if err != nil {
		return engines.Load{}, fmt.Errorf("load of sglang: %w", err)
	}
	return engines.Load{
		Running: page.Count("sglang:num_running_reqs"),
		Waiting: page.Count("sglang:num_queue_reqs"),
	}, nil
}

// loads adds the ranks of a /v1/loads. A gateway answers this route with an
// object of its own, which has other fields and leaves both unknown.
func loads(answer *openai.Answer) engines.Load {
	var body struct {
		Loads []struct {
			Running *int `json:"num_running_reqs"`
			Waiting *int `json:"num_waiting_reqs"`
		} `json:"loads"`
	}
	if answer.Status != 200 || json.Unmarshal(answer.Body, &body) != nil || len(body.Loads) == 0 {
		return engines.Load{}
	}
	sum := engines.Load{Running: engines.Known(0), Waiting: engines.Known(0)}
	for _, rank := range body.Loads {
		if rank.Running == nil || rank.Waiting == nil {
			return engines.Load{}
		}
		sum.Running.N += *rank.Running
		sum.Waiting.N += *rank.Waiting
	}
	return sum
}

// Scrape implements engines.Scraper from the counters of /metrics, summed
// over ranks. They are unknown where the server runs without
// --enable-metrics. SGLang counts the tokens served by its cache against all
// prompt tokens, which therefore stand for the cache's queries.
func (e *Engine) Scrape(ctx context.Context) (engines.Counters, error) {
	page, err := e.s.Metrics(ctx)
	if err != nil {
		return engines.Counters{}, fmt.Errorf("scrape sglang: %w", err)
	}
	c := counters(page)
	c.Instance = e.s.Instance()
	return c, nil
}

func counters(page *openai.Page) engines.Counters {
	c := engines.Counters{
		PromptTokens: page.Count("sglang:prompt_tokens"),
		OutputTokens: page.Count("sglang:generation_tokens"),
		Requests:     page.Count("sglang:num_requests"),
		CacheHits:    page.Count("sglang:cached_tokens"),
		Preemptions:  page.Count("sglang:num_retracted_requests"),
	}
	if !c.CacheHits.Known && c.PromptTokens.Known && countsSources(page) {
		c.CacheHits = engines.Known(0)
	}
	if c.CacheHits.Known {
		c.CacheQueries = c.PromptTokens
	}
	return c
}

// countsSources reports that the server is of a version that counts cached
// tokens. Its page has each counter from the first event on only, so that a
// cache that has served nothing yet is told by the absence of its counter. The
// label came later than that counter.
func countsSources(page *openai.Page) bool {
	for _, labels := range page.Labels("sglang:prompt_tokens_total") {
		if labels["is_streaming"] != "" {
			return true
		}
	}
	return false
}
