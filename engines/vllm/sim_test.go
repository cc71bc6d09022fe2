package vllm_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// prompt is 64 tokens, which is four blocks of the prefix cache.
func prompt(first int32) *engines.Request {
	r := &engines.Request{ID: "r", MaxTokens: 4, MinTokens: 4, IgnoreEOS: true}
	for i := range int32(64) {
		r.Tokens = append(r.Tokens, first+i)
	}
	return r
}

func cached(t *testing.T, e engines.Engine, r *engines.Request) int {
	t.Helper()
	reply, err := e.Generate(t.Context(), r, func(engines.Chunk) {})
	require.NoError(t, err)
	require.True(t, reply.CachedTokens.Known)
	return reply.CachedTokens.N
}

// What a flush says, and what the next request with the same prompt shows.
func TestFlushOfTheEmbeddedEngine(t *testing.T) {
	tests := []struct {
		name    string
		config  sim.Config
		outcome engines.FlushOutcome
		emptied bool
	}{
		{"in development mode", sim.Config{DevMode: true}, engines.Flushed, true},
		{"out of it", sim.Config{}, engines.FlushUnsupported, false},
		{"a server before v0.26", sim.Config{DevMode: true, Faults: sim.Faults{FlushEmptyBody: true}}, engines.FlushUnverified, true},
		{"refused at first", sim.Config{DevMode: true, Faults: sim.Faults{FlushRefusals: 1}}, engines.FlushRefused, false},
		{"a lie", sim.Config{DevMode: true, Faults: sim.Faults{FlushLies: true}}, engines.Flushed, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := sim.New(t, test.config)
				require.Equal(t, 0, cached(t, e, prompt(1000)))
				warm := cached(t, e, prompt(1000))
				require.Positive(t, warm)
				f, err := e.Flush(t.Context())
				require.NoError(t, err)
				assert.Equal(t, test.outcome, f.Outcome, f.Detail)
				want := warm
				if test.emptied {
					want = 0
				}
				assert.Equal(t, want, cached(t, e, prompt(1000)))
			})
		})
	}
}

// While a request runs the load says so, and a flush is refused.
func TestBusyEmbeddedEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sim.New(t, sim.Config{DevMode: true, MaxNumSeqs: 1})
		before, err := e.Scrape(t.Context())
		require.NoError(t, err)
		const requests = 3
		done := make(chan error, requests)
		for i := range int32(requests) {
			r := prompt(1000 * (i + 1))
			r.MaxTokens, r.MinTokens = 1000, 1000
			go func() {
				_, err := e.Generate(t.Context(), r, func(engines.Chunk) {})
				done <- err
			}()
		}
		time.Sleep(time.Second)
		load, err := e.Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Load{Running: engines.Known(1), Waiting: engines.Known(2)}, load)
		f, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.FlushRefused, f.Outcome)
		for range requests {
			require.NoError(t, <-done)
		}
		load, err = e.Load(t.Context())
		require.NoError(t, err)
		assert.True(t, load.Idle())
		f, err = e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Flushed, f.Outcome)
		after, err := e.Scrape(t.Context())
		require.NoError(t, err)
		assert.Equal(t, requests*64, after.PromptTokens.N-before.PromptTokens.N)
		assert.Equal(t, requests*1000, after.OutputTokens.N-before.OutputTokens.N)
		assert.Equal(t, requests*64, after.CacheQueries.N-before.CacheQueries.N)
		assert.Equal(t, before.CacheHits, after.CacheHits)
	})
}

func TestConformanceInVirtualTime(t *testing.T) {
	for _, chat := range []bool{false, true} {
		name := map[bool]string{false: "completions", true: "chat"}[chat]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, err := sim.NewServer(sim.Config{DevMode: true})
				require.NoError(t, err)
				pipes := servertest.Listen()
				go func() { _ = server.Serve(pipes) }()
				defer server.Close()
				e, err := vllm.Attach(t.Context(), vllm.Config{URL: "http://vllm.invalid", Dial: pipes.Dial, Chat: chat})
				require.NoError(t, err)
				defer e.Close(t.Context())
				require.NoError(t, enginetest.Test(t.Context(), e, enginetest.Options{Text: chat}))
			})
		})
	}
}

// The embedded engine as a process of its own, over a real port.
func TestConformanceOfALaunchedServer(t *testing.T) {
	e := launch(t, vllm.Config{Model: "m", Env: []string{roleName + "=embedded"}})
	require.NoError(t, enginetest.Test(t.Context(), e, enginetest.Options{Restart: true}))
	events, err := e.CompileEvents(t.Context())
	require.NoError(t, err)
	assert.Equal(t, engines.Known(0), events)
	_, err = os.Stat(e.LogFile())
	require.NoError(t, err)
}

// What the embedded engine says of itself in development mode is read as what a
// real server says: the scheduler's policy is not the expert balancer's, and a
// block on a processor is another.
func TestIdentityOfTheEmbeddedEngine(t *testing.T) {
	for _, test := range []struct {
		config sim.Config
		block  string
	}{
		{sim.Config{DevMode: true}, "16"},
		{sim.Config{DevMode: true, BlockTokens: 128}, "128"},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, err := sim.NewServer(test.config)
			require.NoError(t, err)
			defer server.Close()
			pipes := servertest.Listen()
			go func() { _ = server.Serve(pipes) }()
			e, err := vllm.Attach(t.Context(), vllm.Config{URL: "http://vllm.invalid", Dial: pipes.Dial})
			require.NoError(t, err)
			defer e.Close(t.Context())
			id, err := e.Describe(t.Context())
			require.NoError(t, err)
			for name, want := range map[string]string{
				"dtype": "torch.bfloat16", "policy": "fcfs", "block_size": test.block, "device": "cuda", "load_format": "auto",
				"enforce_eager": "false", "tensor_parallel_size": "1", "max_num_seqs": "64", "enable_prefix_caching": "true",
			} {
				assert.Equal(t, want, id.Settings[name], name)
			}
			assert.Equal(t, "1x H100 SXM 80GB (simulated)", id.Hardware)
		})
	}
}
