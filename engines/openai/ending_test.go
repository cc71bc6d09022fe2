package openai

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestACanceledRequestReturnsAtOnce(t *testing.T) {
	steps := []step{{at: 10e6, send: running("a", 1)}, {at: time.Hour, send: ended}}
	reason := errors.New("the run is over")
	for what, tt := range map[string]struct {
		at     time.Duration
		tokens int
		where  string
	}{
		"before it is sent":     {0, 0, ""},
		"before the first byte": {5e6, 0, ", before the first event"},
		"in the stream":         {20e6, 1, ", after 1 token events"},
	} {
		t.Run(what, func(t *testing.T) {
			inMemory(t, script{steps: steps}, Config{}, func(t *testing.T, e *Engine) {
				ctx, cancel := context.WithCancelCause(t.Context())
				if tt.at == 0 {
					cancel(reason)
				}
				time.AfterFunc(tt.at, func() { cancel(reason) })
				start := time.Now()
				var chunks int
				reply, err := e.Generate(ctx, &engines.Request{Text: "x", MaxTokens: 9}, func(engines.Chunk) { chunks++ })
				assert.Equal(t, tt.at, time.Since(start))
				failure := requireClass(t, engines.Canceled, result{err: err})
				assert.ErrorIs(t, err, reason)
				assert.Equal(t, "http://engine: POST /v1/completions"+tt.where+": canceled: the run is over", failure.Message)
				assert.Equal(t, tt.tokens, chunks)
				assert.Equal(t, tt.tokens == 1, reply.OutputTokens.Known)
			})
		})
	}
}

func TestASilentStreamIsGivenUp(t *testing.T) {
	cfg := Config{Silence: 10 * time.Second}
	slow := script{steps: []step{{at: 9 * time.Second, send: ": ping\n\n"}, {at: 18 * time.Second, send: completion("a")}, {at: 27 * time.Second, send: ended}}}
	inMemory(t, slow, cfg, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err, "S17 comments reset the limit")
		assert.Equal(t, 18*time.Second, got.reply.FirstEvent)
	})
	hung := script{steps: []step{{at: time.Second, send: completion("a")}, {at: time.Minute, send: ended}}}
	inMemory(t, hung, cfg, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		failure := requireClass(t, engines.Silent, got)
		assert.Equal(t, "http://engine: POST /v1/completions, after 1 token events: no byte for 10s", failure.Message)
		assert.Equal(t, 11*time.Second, got.reply.Closed)
	})
}

func TestAStreamThatStaysOpenAfterDone(t *testing.T) {
	stays := script{steps: []step{{send: completion("a") + ended}, {at: time.Minute, send: ""}}}
	inMemory(t, stays, Config{}, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"the stream stayed open after its last event"}, got.reply.Warnings)
		assert.Equal(t, afterDone, got.reply.Closed)
	})
	breaks := script{steps: []step{{send: completion("a") + ended}, {at: 1e6, drop: true}}}
	inMemory(t, breaks, Config{}, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"the connection broke after the last event"}, got.reply.Warnings)
	})
}

func TestCompression(t *testing.T) {
	handler := func(always bool, encoding string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			out, flush := io.Writer(w), http.NewResponseController(w).Flush
			if always || strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				w.Header().Set("Content-Encoding", encoding)
				z := gzip.NewWriter(w)
				defer z.Close()
				out = z
				if always {
					flush = func() error { z.Flush(); return http.NewResponseController(w).Flush() }
				} else {
					flush = func() error { return nil } // S11: held until the end
				}
			}
			for _, text := range []string{completion("a"), completion("b"), ended} {
				time.Sleep(10 * time.Millisecond)
				io.WriteString(out, text)
				flush()
			}
		})
	}
	inMemory(t, handler(false, "gzip"), Config{}, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.Equal(t, ms(10, 20), got.tokenTimes(), "S11 none is offered")
		assert.Empty(t, got.reply.Warnings)
	})
	inMemory(t, handler(true, "gzip"), Config{}, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.Equal(t, ms(10, 20), got.tokenTimes())
		assert.Equal(t, []string{"the stream was compressed (gzip) though no compression was offered: gaps may be the compressor's"}, got.reply.Warnings)
	})
	inMemory(t, handler(true, "br"), Config{}, func(t *testing.T, e *Engine) {
		failure := requireClass(t, engines.Protocol, generate(t, e))
		assert.Equal(t, `http://engine: POST /v1/completions: the stream has content encoding "br", which was not offered`, failure.Message)
	})
	inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, completion("a"))
	}), Config{}, func(t *testing.T, e *Engine) {
		requireClass(t, engines.Protocol, generate(t, e))
	})
}
