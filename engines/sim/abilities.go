package sim

import (
	"context"
	"fmt"
	"strconv"

	"github.com/openloop-go/openloop/engines"
)

// Version is what the embedded engine answers when asked for its version. It
// changes when the model's times do, so that baselines of different models
// are told apart.
const Version = "sim-1"

// What the servers say when they fail.
const (
	refusal       = "too many requests are waiting"
	internalError = "EngineCore encountered an issue"
)

func (c *Config) answerModel() string {
	if c.Faults.AnswerModel != "" {
		return c.Faults.AnswerModel
	}
	return c.Model
}

// identity is what the engine says of itself: nothing of slowdowns, noise and
// faults.
func (c *Config) identity() engines.Identity {
	id := engines.Identity{
		Engine:   "sim",
		Version:  Version,
		Model:    c.answerModel(),
		Hardware: c.Hardware,
		Settings: map[string]string{
			"flavor":                 string(c.Flavor),
			"max-num-seqs":           strconv.Itoa(c.MaxNumSeqs),
			"max-num-batched-tokens": strconv.Itoa(c.MaxBatchedTokens),
			"kv-tokens":              strconv.Itoa(c.KVTokens),
			"max-model-len":          strconv.Itoa(c.MaxModelLen),
		},
	}
	if c.BlockTokens != blockTokens[VLLM] {
		id.Settings["block-tokens"] = strconv.Itoa(c.BlockTokens)
	}
	return id
}

// instance names one start of the engine.
func (s *scheduler) instance() string { return fmt.Sprintf("sim-%x-%d", s.cfg.Seed, s.start) }

// counters are the engine's, as a client sees them: SGLang's page has the one of
// preemptions from the first on.
func (s *scheduler) counters() engines.Counters {
	c := engines.Counters{
		PromptTokens: engines.Known(s.count.prompt),
		OutputTokens: engines.Known(s.count.output),
		Requests:     engines.Known(s.count.served),
		CacheQueries: engines.Known(s.count.queries),
		CacheHits:    engines.Known(s.count.hits),
		Preemptions:  engines.Known(s.count.preemptions),
		Instance:     s.instance(),
	}
	if s.cfg.Flavor == SGLang && s.count.preemptions == 0 {
		c.Preemptions = engines.Count{}
	}
	return c
}

func (s *scheduler) load() engines.Load {
	return engines.Load{Running: engines.Known(len(s.running)), Waiting: engines.Known(s.queue.len())}
}

// Flush empties the prefix cache, as the flavor's client would. It is refused
// while requests are in flight, unsupported where the server would not have
// the route, and unverified where the body that tells is not sent.
func (m *Model) Flush(context.Context) (engines.Flush, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	route, silent := "POST /reset_prefix_cache", m.cfg.Faults.FlushEmptyBody
	if m.cfg.Flavor == SGLang {
		route, silent = "POST /flush_cache", false // its status tells
	}
	if m.cfg.Flavor == TensorRTLLM {
		return engines.Flush{Outcome: engines.FlushUnsupported, Detail: route + ": status 404; requests with a cache_salt are refused",
			Remedy: "TensorRT-LLM has none: measure with prompts never sent before", Saltless: true}, nil
	}
	if m.cfg.Flavor == VLLM && !m.cfg.DevMode {
		return engines.Flush{Outcome: engines.FlushUnsupported, Detail: route + ": status 404",
			Remedy: "set Config.DevMode, as VLLM_SERVER_DEV_MODE=1 does for a real server"}, nil
	}
	switch success := m.s.flush(); {
	case silent:
		return engines.Flush{Outcome: engines.FlushUnverified, Detail: route + ": status 200 with an empty body",
			Remedy: "switch Faults.FlushEmptyBody off; the cached tokens of replies prove it"}, nil
	case !success:
		return engines.Flush{Outcome: engines.FlushRefused, Detail: route + ": the engine is not idle",
			Remedy: "wait until nothing is running or waiting and ask again"}, nil
	}
	return engines.Flush{Outcome: engines.Flushed, Detail: route + ": success"}, nil
}

// Load is the number of sequences running and waiting; unknown of
// TensorRT-LLM, of which no client reads it.
func (m *Model) Load(context.Context) (engines.Load, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cfg.Flavor == TensorRTLLM {
		return engines.Load{}, nil
	}
	return m.s.load(), nil
}

// Scrape returns the counters since the engine's start: unknown, but for the
// instance, of TensorRT-LLM, of which no client reads them, and of SGLang the
// preemptions before the first, which its page then does not have.
func (m *Model) Scrape(context.Context) (engines.Counters, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cfg.Flavor == TensorRTLLM {
		return engines.Counters{Instance: m.s.instance()}, nil
	}
	return m.s.counters(), nil
}

// Describe returns what the engine is: the same for every slowdown, noise and
// fault.
func (m *Model) Describe(context.Context) (engines.Identity, error) { return m.cfg.identity(), nil }

// CompileEvents counts the shapes compiled since the start.
func (m *Model) CompileEvents(context.Context) (engines.Count, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return engines.Known(m.s.count.compiles), nil
}

// Restart starts the engine afresh: another start of the noise, nothing
// cached, nothing compiled. What was in flight ends with a reset.
func (m *Model) Restart(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.restart(0)
	return nil
}

// VirtualTime reports true: the model's time is a number.
func (m *Model) VirtualTime() bool { return true }
