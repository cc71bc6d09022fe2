package sglang_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/sim"
)

// embedded attaches to an embedded engine in memory.
func embedded(t *testing.T, cfg sim.Config, chat bool) *sglang.Engine {
	t.Helper()
	cfg.Flavor = sim.SGLang
	server, err := sim.NewServer(cfg)
	require.NoError(t, err)
	pipes := servertest.Listen()
	go func() { _ = server.Serve(pipes) }()
	t.Cleanup(func() { _ = server.Close() })
	e, err := sglang.Attach(t.Context(), sglang.Config{URL: "http://sglang.invalid", Dial: pipes.Dial, Chat: chat})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	return e
}

func request(first int32, output int) *engines.Request {
	r := &engines.Request{ID: "r", MaxTokens: output, MinTokens: output, IgnoreEOS: true}
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
		faults  sim.Faults
		outcome engines.FlushOutcome
		emptied bool
	}{
		{"idle", sim.Faults{}, engines.Flushed, true},
		{"without a text", sim.Faults{FlushEmptyBody: true}, engines.Flushed, true},
		{"refused at first", sim.Faults{FlushRefusals: 1}, engines.FlushRefused, false},
		{"a lie", sim.Faults{FlushLies: true}, engines.Flushed, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := embedded(t, sim.Config{Faults: test.faults}, false)
				require.Equal(t, 0, cached(t, e, request(1000, 4)))
				warm := cached(t, e, request(1000, 4))
				require.Positive(t, warm)
				f, err := e.Flush(t.Context())
				require.NoError(t, err)
				assert.Equal(t, test.outcome, f.Outcome, f.Detail)
				want := warm
				if test.emptied {
					want = 0
				}
				assert.Equal(t, want, cached(t, e, request(1000, 4)))
			})
		})
	}
}

// A flush of a busy server waits there for five seconds: what ends before
// does no harm, what does not gets it refused.
func TestFlushWaitsForABusyServer(t *testing.T) {
	for _, test := range []struct {
		name    string
		output  int // at 4.5 ms a token
		outcome engines.FlushOutcome
		longest time.Duration
	}{
		{"for a second", 200, engines.Flushed, 2 * time.Second},
		{"for longer than it waits", 2000, engines.FlushRefused, 5 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := embedded(t, sim.Config{}, false)
				done := make(chan error, 1)
				go func() {
					_, err := e.Generate(t.Context(), request(1000, test.output), func(engines.Chunk) {})
					done <- err
				}()
				time.Sleep(100 * time.Millisecond)
				load, err := e.Load(t.Context())
				require.NoError(t, err)
				assert.Equal(t, engines.Load{Running: engines.Known(1), Waiting: engines.Known(0)}, load)
				asked := time.Now()
				f, err := e.Flush(t.Context())
				require.NoError(t, err)
				assert.Equal(t, test.outcome, f.Outcome, f.Detail)
				assert.LessOrEqual(t, time.Since(asked), test.longest)
				require.NoError(t, <-done)
				load, err = e.Load(t.Context())
				require.NoError(t, err)
				assert.True(t, load.Idle())
			})
		})
	}
}

func TestConformanceInVirtualTime(t *testing.T) {
	for _, chat := range []bool{false, true} {
		name := map[bool]string{false: "completions", true: "chat"}[chat]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := embedded(t, sim.Config{}, chat)
				require.NoError(t, enginetest.Test(t.Context(), e, enginetest.Options{Text: chat}))
			})
		})
	}
}

// The embedded engine as a process of its own, over a real port.
func TestConformanceOfALaunchedServer(t *testing.T) {
	e, err := launch(t, sglang.Config{Model: "m", Env: []string{roleName + "=embedded"}})
	require.NoError(t, err)
	require.NoError(t, enginetest.Test(t.Context(), e, enginetest.Options{Restart: true}))
}

// What an attached server says of its devices and of its pages is read.
func TestIdentityOfTheEmbeddedEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := embedded(t, sim.Config{}, false)
		id, err := e.Describe(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "1x H100 SXM 80GB (simulated)", id.Hardware)
		assert.Equal(t, "1", id.Settings["page_size"])
		// One request has been served, to see that it is ready, and none by the cache,
		// of which the page then says nothing.
		c, err := e.Scrape(t.Context())
		require.NoError(t, err)
		assert.True(t, c.PromptTokens.Known && c.PromptTokens.N > 0)
		assert.Equal(t, engines.Known(0), c.CacheHits)
		assert.Equal(t, c.PromptTokens, c.CacheQueries)
		assert.False(t, c.Preemptions.Known)
	})
}

// A refusal after a wait is one, in the words of servers since 2026.
func TestWordsOfARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := embedded(t, sim.Config{}, false)
		done := make(chan error, 1)
		go func() {
			_, err := e.Generate(t.Context(), request(1000, 2000), func(engines.Chunk) {})
			done <- err
		}()
		time.Sleep(100 * time.Millisecond)
		f, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Flush{
			Outcome: engines.FlushRefused, Detail: "POST /flush_cache?timeout=5: status 400, Timed out waiting for idle state.",
			Remedy: "requests still run or wait: wait until the server is idle",
		}, f)
		require.NoError(t, <-done)
	})
}

// A chat's finish reason comes in an event of its own, which carries no token.
func TestFinishOfAChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := embedded(t, sim.Config{}, true)
		var chunks []engines.Chunk
		r := &engines.Request{Text: "a", MaxTokens: 5, MinTokens: 5, IgnoreEOS: true}
		reply, err := e.Generate(t.Context(), r, func(c engines.Chunk) { chunks = append(chunks, c) })
		require.NoError(t, err)
		assert.Equal(t, "length", reply.Finish)
		assert.Equal(t, engines.Known(5), reply.OutputTokens)
		tokens := 0
		for _, c := range chunks {
			if c.Token {
				tokens++
				assert.Equal(t, engines.Known(1), c.Tokens)
			}
		}
		assert.Equal(t, 5, tokens)
		assert.Len(t, chunks, 8, "the role, five tokens, the finish reason and the counts")
	})
}
