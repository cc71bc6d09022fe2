package openai

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestStreamsThatFail(t *testing.T) {
	two := completion("a") + completion("b")
	counted := running("a", 1) + running("b", 2)
	for _, tt := range []struct {
		what    string
		script  script
		class   engines.Class
		message string // after "http://engine: POST /v1/completions"
		tokens  int
		output  engines.Count
	}{
		{"S14 a clean end after two tokens", script{steps: []step{{send: two}}}, engines.Truncated,
			": the stream ended without [DONE] or a finish reason, after 2 token events", 2, engines.Count{}},
		{"S14 the same, counted", script{steps: []step{{send: counted}}}, engines.Truncated,
			": the stream ended without [DONE] or a finish reason, after 2 token events", 2, engines.Known(2)},
		{"S14 nothing at all", script{}, engines.Truncated,
			": the stream ended without [DONE] or a finish reason, before the first event", 0, engines.Count{}},
		{"S14 an event that was cut off", script{steps: []step{{send: two + `data: {"choices":[{"te`}}}, engines.Truncated,
			": the stream ended without [DONE] or a finish reason, after 2 token events", 2, engines.Count{}},
		{"S16a an error first", script{steps: []step{{send: data(`{"error":{"message":"engine died","type":"InternalServerError","code":500}}`, `[DONE]`)}}},
			engines.ServerError, ": error in the stream, before the first token: engine died", 0, engines.Count{}},
		{"S16b an error after two tokens", script{steps: []step{{send: counted + data(`{"error":{"message":"engine died"}}`, `[DONE]`)}}},
			engines.ServerError, ": error in the stream, after 2 token events: engine died", 2, engines.Known(2)},
		{"S16c an error as a string", script{steps: []step{{send: two + data(`{"error":"engine died","error_type":"generation"}`)}}},
			engines.ServerError, ": error in the stream, after 2 token events: engine died", 2, engines.Count{}},
		{"S16d a JSON error as the body", script{kind: "application/json", steps: []step{{send: `{"error":{"message":"engine died","code":500}}`}}},
			engines.ServerError, ": error instead of a stream: engine died", 0, engines.Count{}},
		{"S16d an event stream's type, a JSON error as the body", script{steps: []step{{send: "\n{\"object\":\"error\",\"message\":\"engine died\"}"}}},
			engines.ServerError, ": error instead of a stream: engine died", 0, engines.Count{}},
		{"an error object of the old kind", script{steps: []step{{send: two + data(`{"object":"error","message":"engine died","code":50001}`, `[DONE]`)}}},
			engines.ServerError, ": error in the stream, after 2 token events: engine died", 2, engines.Count{}},
		{"an event of type error", script{steps: []step{{send: two + "event: error\ndata: {\"message\":\"engine died\"}\n\n"}}},
			engines.ServerError, ": error in the stream, after 2 token events: engine died", 2, engines.Count{}},
		{"an event of type error, as text", script{steps: []step{{send: "event: error\ndata: engine died\n\n"}}},
			engines.ServerError, ": error in the stream, before the first token: engine died", 0, engines.Count{}},
		{"an event of type error, of another shape", script{steps: []step{{send: "event: error\ndata: {\"status\":500}\n\n"}}},
			engines.ServerError, `: error in the stream, before the first token: {"status":500}`, 0, engines.Count{}},
		{"an error after the finish reason", script{steps: []step{{send: two + data(`{"choices":[{"text":"","finish_reason":"stop"}]}`, `{"error":{"message":"late"}}`, `[DONE]`)}}},
			engines.ServerError, ": error in the stream, after 2 token events: late", 2, engines.Count{}},
		{"an error without a message", script{steps: []step{{send: data(`{"object":"error"}`)}}},
			engines.ServerError, ": error in the stream, before the first token: an error without a message", 0, engines.Count{}},
		{"tokens after an error do not count", script{steps: []step{{send: data(`{"error":{"message":"engine died"}}`) + two}}},
			engines.ServerError, ": error in the stream, before the first token: engine died", 0, engines.Count{}},
		{"finish reason error", script{steps: []step{{send: two + data(`{"choices":[{"text":"","finish_reason":"error"}]}`, `[DONE]`)}}},
			engines.ServerError, `: the server gave up (finish reason "error"), after 2 token events`, 2, engines.Count{}},
		{"finish reason abort, as an object", script{steps: []step{{send: two + data(`{"choices":[{"text":"","finish_reason":{"type":"abort"}}]}`, `[DONE]`)}}},
			engines.ServerError, `: the server gave up (finish reason "abort"), after 2 token events`, 2, engines.Count{}},
		{"M01 an empty success", script{steps: []step{{send: ended}}}, engines.NoToken,
			": the stream finished without a token", 0, engines.Count{}},
		{"a role and nothing else", script{steps: []step{{send: chat(`{"role":"assistant","content":""}`) + ended}}}, engines.NoToken,
			": the stream finished without a token", 0, engines.Count{}},
		{"an event that is not JSON", script{steps: []step{{send: two + "data: hello\n\n"}}}, engines.Protocol,
			": event 3 is not a JSON object: hello", 2, engines.Count{}},
		{"an event that is an array", script{steps: []step{{send: data(`[1]`)}}}, engines.Protocol,
			": event 1 is not a JSON object: [1]", 0, engines.Count{}},
		{"HTML", script{kind: "text/html", steps: []step{{send: "<!doctype html><html><head><title>Sign &amp; in</title>"}}}, engines.Protocol,
			`: no event stream came but an HTML page ("Sign & in")`, 0, engines.Count{}},
		{"a whole completion", script{kind: "application/json", steps: []step{{send: `{"choices":[{"text":"ab"}],"usage":{"completion_tokens":2}}`}}}, engines.Protocol,
			": the whole completion came in one JSON body: the server does not stream", 0, engines.Count{}},
		{"other JSON", script{kind: "application/json", steps: []step{{send: `{"status":"ok"}`}}}, engines.Protocol,
			`: no event stream came but {"status":"ok"}`, 0, engines.Count{}},
		{"text", script{kind: "text/plain", steps: []step{{send: "hello"}}}, engines.Truncated,
			": the stream ended without [DONE] or a finish reason, before the first event", 0, engines.Count{}},
		{"S23 dropped after two tokens", script{steps: []step{{send: counted}, {at: 1e6, drop: true}}}, engines.Reset,
			", after 2 token events: the server closed the connection", 2, engines.Known(2)},
		{"S23 dropped before the first event", script{steps: []step{{at: 1e6, drop: true}}}, engines.Reset,
			", before the first event: the server closed the connection", 0, engines.Count{}},
		{"S23 dropped after a finish reason", script{steps: []step{{send: two + data(`{"choices":[{"text":"","finish_reason":"stop"}]}`)}, {at: 1e6, drop: true}}}, engines.Reset,
			", after 2 token events: the server closed the connection", 2, engines.Count{}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			inMemory(t, tt.script, Config{}, func(t *testing.T, e *Engine) {
				got := generate(t, e)
				failure := requireClass(t, tt.class, got)
				assert.Equal(t, "http://engine: POST /v1/completions"+tt.message, failure.Message)
				assert.Equal(t, 200, failure.Status)
				assert.Equal(t, 200, got.reply.Status)
				assert.Len(t, got.tokenTimes(), tt.tokens)
				assert.Equal(t, tt.output, got.reply.OutputTokens)
			})
		})
	}
}

func TestStatusesThatFail(t *testing.T) {
	for _, tt := range []struct {
		what    string
		code    int
		header  string
		body    string
		class   engines.Class
		message string
		after   time.Duration
	}{
		{"S27 overloaded", 503, "Retry-After: 1", "", engines.Refused, "503 Service Unavailable", time.Second},
		{"S27 too many", 429, "Retry-After: 20", `{"error":{"message":"slow down"}}`, engines.Refused, "429 Too Many Requests: slow down", 20 * time.Second},
		{"loading", 503, "", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, engines.Refused, "503 Service Unavailable: Loading model", 0},
		{"S28 not found", 404, "", strings.Repeat("x", 400), engines.Status, "404 Not Found: " + strings.Repeat("x", 300) + "…: the server has no such route", 0},
		{"no model", 404, "", `{"object":"error","message":"The model \"x\" does not exist.","type":"NotFoundError","code":404}`, engines.NoModel,
			`404 Not Found: The model "x" does not exist.: ask for a model that the server serves`, 0},
		{"no key", 401, "", `{"error":"Unauthorized"}`, engines.Unauthorized, "401 Unauthorized: Unauthorized: set the API key (OPENLOOP_API_KEY) or correct it", 0},
		{"forbidden", 403, "", "<html><title>403 Forbidden</title></html>", engines.Unauthorized, `403 Forbidden: an HTML page ("403 Forbidden"): set the API key (OPENLOOP_API_KEY) or correct it`, 0},
		{"bad request", 400, "", `{"detail":"too long"}`, engines.Status, "400 Bad Request: too long", 0},
		{"validation", 422, "", `{"detail":[{"loc":["body","prompt"],"msg":"field required"}]}`, engines.Status,
			`422 Unprocessable Entity: [{"loc":["body","prompt"],"msg":"field required"}]`, 0},
		{"server error", 500, "", "Internal Server Error", engines.Status, "500 Internal Server Error: Internal Server Error", 0},
		{"moved", 307, "Location: https://other/v1/completions", "", engines.Status,
			"307 Temporary Redirect: it points to https://other/v1/completions, which is not followed: correct the URL", 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			calls := 0
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				if name, value, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.code)
				io.WriteString(w, tt.body)
			})
			inMemory(t, handler, Config{}, func(t *testing.T, e *Engine) {
				got := generate(t, e)
				failure := requireClass(t, tt.class, got)
				assert.Equal(t, "http://engine: POST /v1/completions: "+tt.message, failure.Message)
				assert.Equal(t, tt.code, failure.Status)
				assert.Equal(t, tt.after, failure.RetryAfter)
				assert.Equal(t, tt.code, got.reply.Status)
				assert.Empty(t, got.chunks)
				assert.Equal(t, 1, calls, "requests sent")
			})
		})
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(7*time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(503)
	})
	inMemory(t, handler, Config{}, func(t *testing.T, e *Engine) {
		assert.Equal(t, 7*time.Second, requireClass(t, engines.Refused, generate(t, e)).RetryAfter)
	})
}

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

// S29 and its neighbours: when a connection breaks before a reply.
func TestConnectionsThatBreakBeforeTheReply(t *testing.T) {
	// once answers one request on a connection and calls then for the next.
	once := func(then func(c net.Conn)) func(c net.Conn) {
		return func(c net.Conn) {
			buf := make([]byte, 64<<10)
			c.Read(buf)
			io.WriteString(c, chunked(completion("a"), ended))
			c.Read(buf)
			then(c)
		}
	}
	rawMemory(t, once(func(c net.Conn) { c.Close() }), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		got := generate(t, e)
		failure := requireClass(t, engines.Stale, got)
		assert.Contains(t, failure.Message, "the server closed the connection, kept alive from an earlier request, as this one was sent")
		assert.Equal(t, 1, e.Connections(), "the request was not sent again")
		assert.False(t, got.reply.NewConnection)
	})
	rawMemory(t, once(func(c net.Conn) { time.Sleep(time.Second); c.Close() }), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		failure := requireClass(t, engines.Reset, generate(t, e))
		assert.Equal(t, 1, e.Connections())
		assert.Contains(t, failure.Message, "closed", "a server that dies at work is no stale connection")
	})
	rawMemory(t, func(c net.Conn) { c.Read(make([]byte, 64<<10)); c.Close() }, Config{}, func(t *testing.T, e *Engine) {
		requireClass(t, engines.Reset, generate(t, e))
		assert.Equal(t, 1, e.Connections())
	})
	rawMemory(t, func(c net.Conn) {
		drain(c)
		time.Sleep(time.Millisecond)
		io.WriteString(c, "SSH-2.0-OpenSSH\r\n\r\n")
	}, Config{}, func(t *testing.T, e *Engine) {
		requireClass(t, engines.Protocol, generate(t, e))
	})
	// An Idempotency-Key would have net/http send a request again.
	cfg := Config{Header: http.Header{"Idempotency-Key": {"1234"}}}
	rawMemory(t, once(func(c net.Conn) { c.Close() }), cfg, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		requireClass(t, engines.Stale, generate(t, e))
		assert.Equal(t, 1, e.Connections(), "the request was not sent again")
	})
	// A connection is not used again when a server may be about to close it.
	rawMemory(t, once(func(c net.Conn) { c.Close() }), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		time.Sleep(idleTimeout + time.Millisecond)
		require.NoError(t, generate(t, e).err)
		assert.Equal(t, 2, e.Connections())
	})
}

func TestMisuseIsRefusedBeforeAnythingIsSent(t *testing.T) {
	chatting, err := New(Config{URL: "http://127.0.0.1:1", Chat: true})
	require.NoError(t, err)
	completing, err := New(Config{URL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	for _, tt := range []struct {
		engine  *Engine
		request engines.Request
		want    string
	}{
		{completing, engines.Request{}, "openai: Request has no prompt: set Tokens or Text; Request.MaxTokens must be positive, got 0"},
		{completing, engines.Request{Tokens: []int32{}, MaxTokens: 1}, "openai: Request.Tokens is empty: it needs at least one id"},
		{completing, engines.Request{Tokens: []int32{5, -1}, MaxTokens: 1}, "openai: Request.Tokens[1] must not be negative, got -1"},
		{completing, engines.Request{Text: "x", MaxTokens: 3, MinTokens: 4}, "openai: Request.MinTokens must be from 0 to MaxTokens, which is 3, got 4"},
		{completing, engines.Request{Text: "x", MaxTokens: 3, Temperature: -1}, "openai: Request.Temperature must be a number from 0 on, got -1"},
		{completing, engines.Request{Text: "x", MaxTokens: 3, ID: "a\nb"}, `openai: Request.ID must be printable ASCII, got "a\nb"`},
		{chatting, engines.Request{Tokens: []int32{5}, MaxTokens: 1},
			"openai: Request.Tokens cannot be sent to /v1/chat/completions, which takes text: set Request.Text, or Config.Chat to false"},
	} {
		_, err := tt.engine.Generate(t.Context(), &tt.request, nil)
		failure := requireClass(t, engines.Misuse, result{err: err})
		assert.Equal(t, tt.want, failure.Message)
		assert.Zero(t, tt.engine.Connections())
	}
}
