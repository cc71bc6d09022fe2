//go:build llamacpp

package llamacpp_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
	"github.com/openloop-go/openloop/engines/llamacpp"
	"github.com/openloop-go/openloop/engines/openai"
)

// configured is the configuration of the real server, named by the environment.
func configured(t *testing.T) llamacpp.Config {
	t.Helper()
	server, model := os.Getenv("OPENLOOP_LLAMACPP_SERVER"), os.Getenv("OPENLOOP_LLAMACPP_MODEL")
	if server == "" || model == "" {
		t.Fatal("set OPENLOOP_LLAMACPP_SERVER to a llama-server and OPENLOOP_LLAMACPP_MODEL to a .gguf file: .ci/real-servers does")
	}
	// With a thread for each core they wait for one another whenever anything
	// else runs.
	threads := max(1, runtime.NumCPU()/2)
	return llamacpp.Config{Model: model, Command: []string{server}, Threads: threads, Parallel: 4, ContextSize: 4 * 2048}
}

// start starts the real server; it is a *llamacpp.Server, no URL is set.
func start(t *testing.T, cfg llamacpp.Config) *llamacpp.Server {
	t.Helper()
	from := time.Now()
	e, stop, err := llamacpp.Launch(t.Context(), cfg)
	require.NoError(t, err)
	t.Logf("ready after %v", time.Since(from).Round(10*time.Millisecond))
	t.Cleanup(func() { assert.NoError(t, stop(context.WithoutCancel(t.Context()))) })
	return e.(*llamacpp.Server)
}

// patient are the suite's options for a host whose processor is shared.
var patient = enginetest.Options{Concurrent: 6, LongPrompt: 512, Restart: true, Patience: 30 * time.Second}

func TestRealServerConforms(t *testing.T) {
	for _, chat := range []bool{false, true} {
		t.Run(map[bool]string{false: "completions", true: "chat"}[chat], func(t *testing.T) {
			cfg, o := configured(t), patient
			cfg.Chat, o.Text = chat, chat
			require.NoError(t, enginetest.Test(t.Context(), start(t, cfg), o))
		})
	}
	t.Run("with a prompt cache", func(t *testing.T) {
		cfg := configured(t)
		cfg.PromptCache = true
		require.NoError(t, enginetest.Test(t.Context(), start(t, cfg), patient))
	})
	t.Run("by engines/openai", func(t *testing.T) {
		e, err := openai.Attach(t.Context(), openai.Config{URL: start(t, configured(t)).URL()})
		require.NoError(t, err)
		defer e.Close()
		require.NoError(t, enginetest.Test(t.Context(), e, patient))
	})
}

// generate streams one generation of 8 tokens and returns the reply.
func generate(t *testing.T, e engines.Engine, prompt []int32) engines.Reply {
	t.Helper()
	events := 0
	reply, err := e.Generate(t.Context(), &engines.Request{ID: "r", Tokens: prompt, MaxTokens: 8, IgnoreEOS: true},
		func(c engines.Chunk) {
			if c.Token {
				events++
				assert.True(t, c.Tokens.Known, "an event without its count: %+v", c)
			}
		})
	require.NoError(t, err)
	assert.Positive(t, events)
	assert.Equal(t, engines.Known(8), reply.OutputTokens)
	assert.Equal(t, engines.Known(len(prompt)), reply.PromptTokens)
	assert.Equal(t, "length", reply.Finish)
	return reply
}

// prompt is 900 tokens, more than the model's sliding window, from first on.
func prompt(first int32) []int32 {
	tokens := make([]int32, 900)
	for i := range tokens {
		tokens[i] = first + int32(i)
	}
	return tokens
}

// What serves a prompt that was sent before: nothing, unless it is asked for,
// and after a flush nothing again.
func TestRealServersCache(t *testing.T) {
	t.Run("cold by itself", func(t *testing.T) {
		e := start(t, configured(t))
		for range 3 {
			assert.Equal(t, engines.Known(0), generate(t, e, prompt(1000)).CachedTokens)
		}
		counters, err := e.Scrape(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Known(0), counters.CacheHits)
		assert.GreaterOrEqual(t, counters.PromptTokens.N, 2700)
	})
	t.Run("warm when asked, flushed when told", func(t *testing.T) {
		cfg := configured(t)
		cfg.PromptCache = true
		e := start(t, cfg)
		assert.Equal(t, engines.Known(0), generate(t, e, prompt(1000)).CachedTokens)
		assert.Greater(t, generate(t, e, prompt(1000)).CachedTokens.N, 800)
		f, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Flushed, f.Outcome, f.Detail)
		assert.Equal(t, engines.Known(0), generate(t, e, prompt(1000)).CachedTokens)
		counters, err := e.Scrape(t.Context())
		require.NoError(t, err)
		assert.Greater(t, counters.CacheHits.N, 800)
		assert.Greater(t, counters.CacheQueries.N, 2700)
	})
	t.Run("attached to one that caches", func(t *testing.T) {
		cfg := configured(t)
		cfg.PromptCache = true
		warm := start(t, cfg)
		e, err := llamacpp.Attach(t.Context(), llamacpp.Config{URL: warm.URL(), Model: cfg.Model})
		require.NoError(t, err)
		for range 2 {
			assert.Equal(t, engines.Known(0), generate(t, e, prompt(1000)).CachedTokens)
		}
	})
}

func TestRealServersIdentity(t *testing.T) {
	cfg := configured(t)
	e := start(t, cfg)
	id, err := e.Describe(t.Context())
	require.NoError(t, err)
	t.Logf("%+v", id)
	assert.NotEmpty(t, id.Version)
	assert.NotEmpty(t, id.Hardware)
	assert.NotContains(t, id.Model, "/", "the name is the same on every machine")
	assert.Equal(t, "4", id.Settings["total_slots"])
	assert.Equal(t, strconv.Itoa(cfg.Threads), id.Settings["threads"])
	assert.Equal(t, cfg.Model, id.Settings["model_path"])
}

// A server that dies is noticed at once, with its last words.
func TestRealServerThatDies(t *testing.T) {
	for _, test := range []struct {
		name string
		with func(*llamacpp.Config)
		want []string
	}{
		{"no such model", func(c *llamacpp.Config) { c.Model = "/nowhere/model.gguf" },
			[]string{"/nowhere/model.gguf", "check Config.Model"}},
		{"no such argument", func(c *llamacpp.Config) { c.Args = []string{"--frobnicate"} },
			[]string{"invalid argument: --frobnicate", "check Config.Args"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := configured(t)
			test.with(&cfg)
			from := time.Now()
			_, _, err := llamacpp.Launch(t.Context(), cfg)
			require.Error(t, err)
			assert.Contains(t, err.Error(), "start llamacpp: exited with code 1 after ")
			for _, part := range test.want {
				assert.Contains(t, err.Error(), part)
			}
			assert.Less(t, time.Since(from), 30*time.Second, "it was waited for")
		})
	}
}
