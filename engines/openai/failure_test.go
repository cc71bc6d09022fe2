package openai

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
			", after 2 token events: the server closed the connection before its answer had ended: look into its log", 2, engines.Known(2)},
		{"S23 dropped before the first event", script{steps: []step{{at: 1e6, drop: true}}}, engines.Reset,
			", before the first event: the server closed the connection before its answer had ended: look into its log", 0, engines.Count{}},
		{"S23 dropped after a finish reason", script{steps: []step{{send: two + data(`{"choices":[{"text":"","finish_reason":"stop"}]}`)}, {at: 1e6, drop: true}}}, engines.Reset,
			", after 2 token events: the server closed the connection before its answer had ended: look into its log", 2, engines.Count{}},
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
