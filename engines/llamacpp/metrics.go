package llamacpp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// page is the server's page of metrics, an empty one where it was started
// without --metrics.
func (e *Engine) page(ctx context.Context) (*openai.Page, error) {
	page, err := e.s.Client().Page(ctx, "/metrics")
	if failure := (*engines.Error)(nil); errors.As(err, &failure) {
		switch failure.Status {
		case http.StatusNotFound, http.StatusNotImplemented:
			return &openai.Page{}, nil
		}
	}
	return page, err
}

// Load implements engines.Loader from the gauges of /metrics; else from the
// state of the slots, which tells of waiting requests only while a slot is
// free: then there are none. Where there is neither the load is unknown.
func (e *Engine) Load(ctx context.Context) (engines.Load, error) {
	page, err := e.page(ctx)
	if err != nil {
		return engines.Load{}, fmt.Errorf("load of llamacpp: %w", err)
	}
	l := engines.Load{
		Running: page.Count("llamacpp:requests_processing"),
		Waiting: page.Count("llamacpp:requests_deferred"),
	}
	if l.Running.Known && l.Waiting.Known {
		return l, nil
	}
	answer, err := e.s.Client().Do(ctx, http.MethodGet, "/slots", nil)
	if err != nil {
		return engines.Load{}, fmt.Errorf("load of llamacpp: %w", err)
	}
	return slots(answer), nil
}

// slots is the load by a /slots.
func slots(answer *openai.Answer) engines.Load {
	var all []struct {
		Busy *bool `json:"is_processing"`
	}
	if answer.Status != http.StatusOK || json.Unmarshal(answer.Body, &all) != nil || len(all) == 0 {
		return engines.Load{}
	}
	l := engines.Load{Running: engines.Known(0)}
	for _, slot := range all {
		if slot.Busy == nil {
			return engines.Load{}
		}
		if *slot.Busy {
			l.Running.N++
		}
	}
	if l.Running.N < len(all) {
		l.Waiting = engines.Known(0)
	}
	return l
}

// Scrape implements engines.Scraper from the counters of /metrics. They are
// unknown where the server runs without --metrics.
func (e *Engine) Scrape(ctx context.Context) (engines.Counters, error) {
	page, err := e.page(ctx)
	if err != nil {
		return engines.Counters{}, fmt.Errorf("scrape llamacpp: %w", err)
	}
	c := counters(page, e.cached)
	c.Instance = e.s.Instance()
	return c, nil
}

// counters reads a page. llama.cpp counts the prompt tokens that it computes
// and, in newer builds, those that a cache served apart from them; without the
// second count the first is all of them only while requests refuse the cache.
func counters(page *openai.Page, cached bool) engines.Counters {
	c := engines.Counters{
		PromptTokens: page.Count("llamacpp:prompt_tokens_total"),
		OutputTokens: page.Count("llamacpp:tokens_predicted_total"),
		CacheHits:    page.Count("llamacpp:prompt_tokens_cached_total"),
	}
	switch {
	case c.PromptTokens.Known && c.CacheHits.Known:
		c.PromptTokens.N += c.CacheHits.N
		c.CacheQueries = c.PromptTokens
	case cached:
		c.PromptTokens = engines.Count{}
	}
	return c
}
