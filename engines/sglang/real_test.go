//go:build sglang && !windows

package sglang_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
	"github.com/openloop-go/openloop/engines/internal/shape"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// realConfig is the real server, named by the environment, on the processor
// and with a model of random weights. It sleeps when it has nothing to do,
// which by itself it does not.
func realConfig(t *testing.T) sglang.Config {
	t.Helper()
	python, model := os.Getenv("OPENLOOP_SGLANG_PYTHON"), os.Getenv("OPENLOOP_SGLANG_MODEL")
	if python == "" || model == "" {
		t.Fatal("set OPENLOOP_SGLANG_PYTHON to a python with SGLang and OPENLOOP_SGLANG_MODEL to a model's folder: .ci/real-sglang does")
	}
	var cfg sglang.Config
	cfg.Model, cfg.Command = model, []string{python, "-m", "sglang.launch_server"}
	cfg.Args = []string{"--device", "cpu", "--load-format", "dummy", "--max-total-tokens", "65536", "--sleep-on-idle"}
	cfg.Env = []string{"SGLANG_USE_CPU_ENGINE=1", "HF_HUB_OFFLINE=1"}
	cfg.LogFile = filepath.Join(t.TempDir(), "sglang.log")
	return cfg
}

// long is 300 tokens and an output of n.
func long(first int32, n int) *engines.Request {
	r := &engines.Request{ID: "r", MaxTokens: n, MinTokens: n, IgnoreEOS: true}
	for i := range int32(300) {
		r.Tokens = append(r.Tokens, first+i)
	}
	return r
}

// begin starts a generation and returns when its first event has come.
func begin(t *testing.T, ctx context.Context, e engines.Engine, r *engines.Request) (ended <-chan error) {
	t.Helper()
	began, end := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		_, err := e.Generate(ctx, r, func(engines.Chunk) {
			if first {
				close(began)
			}
			first = false
		})
		end <- err
	}()
	select {
	case <-began:
	case err := <-end:
		t.Fatalf("ended before its first event: %v", err)
	}
	return end
}

// Starts take most of the time, so that one server is asked all that needs no
// other one. At the end it is killed.
func TestRealServer(t *testing.T) {
	cfg := realConfig(t)
	from := time.Now()
	started, stop, err := sglang.Launch(t.Context(), cfg)
	require.NoError(t, err)
	t.Logf("ready after %v", time.Since(from).Round(10*time.Millisecond))
	t.Cleanup(func() { _ = stop(context.WithoutCancel(t.Context())) })
	e := started.(*sglang.Server)

	t.Run("tells what its cache served from the first request on", func(t *testing.T) {
		// By itself its page has no such counter before the cache serves anything.
		require.Eventually(t, func() bool {
			c, err := e.Scrape(t.Context())
			return err == nil && c.PromptTokens.Known && c.CacheHits.Known && c.CacheQueries == c.PromptTokens
		}, 30*time.Second, 100*time.Millisecond)
	})
	t.Run("conforms, and after a restart", func(t *testing.T) {
		require.NoError(t, enginetest.Test(t.Context(), e, patient(false, true)))
	})
	t.Run("streams as the embedded engine does", func(t *testing.T) { assert.NoError(t, shape.Same(e.URL(), cfg.Model, sim.SGLang)) })
	t.Run("conforms in chats", func(t *testing.T) {
		var attached sglang.Config
		attached.URL, attached.Chat = e.URL(), true
		chat, err := sglang.Attach(t.Context(), attached)
		require.NoError(t, err)
		defer chat.Close(t.Context())
		require.NoError(t, enginetest.Test(t.Context(), chat, patient(true, false)))
	})
	t.Run("a flush empties its cache", func(t *testing.T) {
		assert.Equal(t, 0, cached(t, e, long(1000, 8)))
		assert.Equal(t, 299, cached(t, e, long(1000, 8)), "all but the last token, which is computed for the logits")
		f, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Flushed, f.Outcome, f.Detail)
		assert.Equal(t, 0, cached(t, e, long(1000, 8)))
	})
	t.Run("a flush is refused while it is busy", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := begin(t, ctx, e, long(5000, 7000))
		load, err := e.Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Load{Running: engines.Known(1), Waiting: engines.Known(0)}, load)
		f, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.FlushRefused, f.Outcome, f.Detail)
		assert.Contains(t, f.Detail, "status 400")
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
	t.Run("its identity", func(t *testing.T) {
		id, err := e.Describe(t.Context())
		require.NoError(t, err)
		t.Logf("%+v", id)
		assert.Equal(t, cfg.Model, id.Model)
		assert.Regexp(t, `^\d+\.\d+\.\d+`, id.Version)
		assert.NotEmpty(t, id.Hardware)
		for name, want := range map[string]string{
			"device": "cpu", "load_format": "dummy", "max_total_tokens": "65536", "page_size": "1",
			"schedule_policy": "fcfs", "disable_radix_cache": "false", "tp_size": "1",
			"env.SGLANG_USE_CPU_ENGINE": "1",
		} {
			assert.Equal(t, want, id.Settings[name], name)
		}
	})
	t.Run("is no other model, and no other kind", func(t *testing.T) {
		var other sglang.Config
		other.URL, other.Model = e.URL(), "org/other"
		_, err := sglang.Attach(t.Context(), other)
		assert.ErrorContains(t, err, `it serves "`+cfg.Model+`", want "org/other"`)
		var kind vllm.Config
		kind.URL = e.URL()
		_, err = vllm.Attach(t.Context(), kind)
		assert.ErrorContains(t, err, "is a server of kind sglang, want vllm")
	})
	t.Run("its death is noticed", func(t *testing.T) {
		ended := begin(t, t.Context(), e, long(13000, 7000))
		counters, err := e.Scrape(t.Context())
		require.NoError(t, err)
		m := regexp.MustCompile(`pid (\d+)`).FindStringSubmatch(counters.Instance)
		require.NotNil(t, m, counters.Instance)
		pid, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		select {
		case err := <-ended:
			require.Error(t, err)
			t.Log(err)
		case <-time.After(30 * time.Second):
			t.Fatal("the generation outlives its server")
		}
		<-e.Ended()
		err = stop(t.Context())
		require.Error(t, err, "it had died by itself")
		assert.ErrorContains(t, err, "killed")
	})
}

// patient are the suite's options for a host whose processor is shared.
func patient(text, restart bool) enginetest.Options {
	return enginetest.Options{Text: text, Restart: restart, Concurrent: 6, Patience: 30 * time.Second}
}

func realCounters(t *testing.T, e *sglang.Server) {
	before, err := e.Scrape(t.Context())
	require.NoError(t, err)
	require.True(t, before.CacheHits.Known, "there have been hits, before which the page has no such counter")
	for range 2 {
		cached(t, e, long(9000, 8))
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
		CacheQueries: engines.Known(600), CacheHits: engines.Known(299)}
	// The page follows a reply by a moment.
	require.Eventually(t, func() bool { return grown() == want }, 30*time.Second, 100*time.Millisecond)
}

// A model that is not there is said in the end, with the server's words.
func TestRealServerThatDies(t *testing.T) {
	cfg := realConfig(t)
	cfg.Model = "/nowhere/model"
	_, _, err := sglang.Launch(t.Context(), cfg)
	require.ErrorContains(t, err, "start sglang: ")
	t.Log(err)
	assert.ErrorContains(t, err, "check Config.Model")
}
