//go:build vllm && !windows

package vllm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
	"github.com/openloop-go/openloop/engines/internal/shape"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// realConfig is the real server, named by the environment, with a model of
// random weights.
func realConfig(t *testing.T, args ...string) vllm.Config {
	t.Helper()
	program, model := os.Getenv("OPENLOOP_VLLM_SERVER"), os.Getenv("OPENLOOP_VLLM_MODEL")
	if program == "" || model == "" {
		t.Fatal("set OPENLOOP_VLLM_SERVER to a vllm program and OPENLOOP_VLLM_MODEL to a model's folder: .ci/real-vllm does")
	}
	var cfg vllm.Config
	cfg.Model, cfg.Command = model, []string{program, "serve"}
	cfg.Args = append([]string{"--load-format", "dummy", "--max-model-len", "4096"}, args...)
	cfg.Env = []string{"VLLM_CPU_KVCACHE_SPACE=1", "HF_HUB_OFFLINE=1"}
	cfg.LogFile = filepath.Join(t.TempDir(), "vllm.log")
	return cfg
}

// startReal starts the real server; the caller, or the test's end, stops it.
func startReal(t *testing.T, cfg vllm.Config) (*vllm.Server, func(context.Context) error) {
	t.Helper()
	from := time.Now()
	e, stop, err := vllm.Launch(t.Context(), cfg)
	require.NoError(t, err)
	t.Logf("ready after %v", time.Since(from).Round(10*time.Millisecond))
	t.Cleanup(func() { _ = stop(context.WithoutCancel(t.Context())) })
	return e.(*vllm.Server), stop
}

// long is 300 tokens, which is two whole blocks of a cache whose blocks are
// 128 tokens, as they are on a processor.
func long(first int32) *engines.Request {
	r := &engines.Request{ID: "r", MaxTokens: 8, MinTokens: 8, IgnoreEOS: true}
	for i := range int32(300) {
		r.Tokens = append(r.Tokens, first+i)
	}
	return r
}

// patientWith are the suite's options for a host whose processor is shared.
func patientWith(text, restart bool) enginetest.Options {
	return enginetest.Options{Text: text, Restart: restart, Concurrent: 6, Patience: 30 * time.Second}
}

// Starts take most of the time, so that one server is asked all that needs no
// other one. At the end it is killed.
func TestRealServer(t *testing.T) {
	cfg := realConfig(t)
	e, stop := startReal(t, cfg)

	t.Run("conforms, and after a restart", func(t *testing.T) {
		require.NoError(t, enginetest.Test(t.Context(), e, patientWith(false, true)))
	})
	t.Run("streams as the embedded engine does", func(t *testing.T) { assert.NoError(t, shape.Same(e.URL(), cfg.Model, sim.VLLM)) })
	t.Run("conforms in chats", func(t *testing.T) {
		var attached vllm.Config
		attached.URL, attached.Chat = e.URL(), true
		chat, err := vllm.Attach(t.Context(), attached)
		require.NoError(t, err)
		defer chat.Close(t.Context())
		require.NoError(t, enginetest.Test(t.Context(), chat, patientWith(true, false)))
	})
	t.Run("conforms by engines/openai", func(t *testing.T) {
		client, err := openai.Attach(t.Context(), openai.Config{URL: e.URL()})
		require.NoError(t, err)
		defer client.Close()
		require.NoError(t, enginetest.Test(t.Context(), client, patientWith(false, false)))
	})
	t.Run("a flush empties its cache", func(t *testing.T) {
		assert.Equal(t, 0, cached(t, e, long(1000)))
		assert.Equal(t, 256, cached(t, e, long(1000)))
		f, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Flushed, f.Outcome, f.Detail)
		assert.Equal(t, 0, cached(t, e, long(1000)))
	})
	t.Run("a flush is refused while it is busy", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, began, ended := long(5000), make(chan struct{}), make(chan error, 1)
		r.MaxTokens, r.MinTokens = 3000, 3000
		go func() {
			first := true
			_, err := e.Generate(ctx, r, func(engines.Chunk) {
				if first {
					close(began)
				}
				first = false
			})
			ended <- err
		}()
		<-began
		load, err := e.Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Known(0), load.Waiting)
		f, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.FlushRefused, f.Outcome, f.Detail)
		cancel()
		require.Error(t, <-ended)
		// What was cancelled is given up there too.
		require.Eventually(t, func() bool {
			load, err := e.Load(t.Context())
			return err == nil && load.Idle()
		}, 30*time.Second, 50*time.Millisecond)
		f, err = e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Flushed, f.Outcome, f.Detail)
	})
	t.Run("its counters", func(t *testing.T) { realCounters(t, e) })
	t.Run("its identity", func(t *testing.T) { realIdentity(t, e, cfg) })
	t.Run("is no other model, and no other kind", func(t *testing.T) {
		var other vllm.Config
		other.URL, other.Model = e.URL(), "org/other"
		_, err := vllm.Attach(t.Context(), other)
		assert.ErrorContains(t, err, `it serves "`+cfg.Model+`", want "org/other"`)
		var kind sglang.Config
		kind.URL = e.URL()
		_, err = sglang.Attach(t.Context(), kind)
		assert.ErrorContains(t, err, "is a server of kind vllm, want sglang")
	})
	t.Run("its death is noticed", func(t *testing.T) { realDeath(t, e, stop) })
}

func realCounters(t *testing.T, e *vllm.Server) {
	before, err := e.Scrape(t.Context())
	require.NoError(t, err)
	assert.True(t, before.Preemptions.Known)
	for range 2 {
		cached(t, e, long(9000))
	}
	grown := func() engines.Counters {
		after, err := e.Scrape(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before.Instance, after.Instance)
		return engines.Counters{
			PromptTokens: engines.Known(after.PromptTokens.N - before.PromptTokens.N),
			OutputTokens: engines.Known(after.OutputTokens.N - before.OutputTokens.N),
			CacheQueries: engines.Known(after.CacheQueries.N - before.CacheQueries.N),
			CacheHits:    engines.Known(after.CacheHits.N - before.CacheHits.N),
		}
	}
	want := engines.Counters{PromptTokens: engines.Known(600), OutputTokens: engines.Known(16),
		CacheQueries: engines.Known(600), CacheHits: engines.Known(256)}
	// The page follows a reply by a moment.
	require.Eventually(t, func() bool { return grown() == want }, 30*time.Second, 100*time.Millisecond)
	events, err := e.CompileEvents(t.Context())
	require.NoError(t, err)
	assert.True(t, events.Known, "the log says whether graphs were compiled or loaded")
}

func realIdentity(t *testing.T, e *vllm.Server, cfg vllm.Config) {
	id, err := e.Describe(t.Context())
	require.NoError(t, err)
	t.Logf("%+v", id)
	assert.Equal(t, cfg.Model, id.Model)
	assert.Regexp(t, `^\d+\.\d+\.\d+`, id.Version)
	assert.NotEmpty(t, id.Hardware)
	for name, want := range map[string]string{
		"device": "cpu", "dtype": "torch.bfloat16", "load_format": "dummy", "max_model_len": "4096",
		"enforce_eager": "false", "enable_prefix_caching": "true", "policy": "fcfs", "block_size": "128",
		"tensor_parallel_size": "1", "env.VLLM_CPU_KVCACHE_SPACE": "1",
	} {
		assert.Equal(t, want, id.Settings[name], name)
	}
	var attached vllm.Config
	attached.URL = e.URL()
	other, err := vllm.Attach(t.Context(), attached)
	require.NoError(t, err)
	defer other.Close(t.Context())
	from, err := other.Describe(t.Context())
	require.NoError(t, err)
	assert.Equal(t, id.Hardware, from.Hardware, "development mode tells it to those who attach too")
	assert.Equal(t, "1", from.Settings["env.VLLM_CPU_KVCACHE_SPACE"])
}
