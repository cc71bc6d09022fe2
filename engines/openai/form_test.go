package openai

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// picky is a server that rejects fields it does not know and keeps the bodies.
type picky struct {
	rejects map[string]string // field → reply
	code    int
	mu      sync.Mutex
	bodies  []map[string]any
	header  []http.Header
	paths   []string
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var body map[string]any
	if err := json.Unmarshal(b, &body); err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	p.mu.Lock()
	p.bodies, p.header, p.paths = append(p.bodies, body), append(p.header, r.Header), append(p.paths, r.URL.Path)
	p.mu.Unlock()
	options, _ := body["stream_options"].(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(p.rejects)) {
		reply := p.rejects[field]
		if _, ok := body[field]; ok || options[field] != nil {
			w.WriteHeader(p.code)
			io.WriteString(w, reply)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, completion("a")+ended)
}

func TestWhatIsSent(t *testing.T) {
	for _, tt := range []struct {
		what    string
		cfg     Config
		request engines.Request
		path    string
		want    string
	}{
		{"token ids", Config{Model: "m"},
			engines.Request{Tokens: []int32{1, 20, 300}, Text: "ignored", MaxTokens: 7, MinTokens: 7, IgnoreEOS: true, CacheSalt: "s\"1"},
			"/v1/completions",
			`{"model":"m","prompt":[1,20,300],"stream":true,"max_tokens":7,"temperature":0,"min_tokens":7,"ignore_eos":true,
			  "stream_options":{"include_usage":true,"continuous_usage_stats":true},"cache_salt":"s\"1"}`},
		{"text", Config{}, engines.Request{Text: "a <b> \n\"é\u2028", MaxTokens: 1, Temperature: 0.7}, "/v1/completions",
			`{"prompt":"a <b> \n\"é\u2028","stream":true,"max_tokens":1,"temperature":0.7,
			  "stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{"chat", Config{Model: "m", Chat: true, URL: "http://engine/gateway/v1/"}, engines.Request{Text: "hello", MaxTokens: 3}, "/gateway/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true,"max_tokens":3,"max_completion_tokens":3,"temperature":0,
			  "stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{"token ids of each event", Config{TokenIDs: true}, engines.Request{Text: "a", MaxTokens: 1}, "/v1/completions",
			`{"prompt":"a","stream":true,"max_tokens":1,"temperature":0,"return_token_ids":true,
			  "stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{"extra fields", Config{Extra: map[string]any{"cache_prompt": false, "vllm_xargs": map[string]any{"a": 1}}}, engines.Request{Text: "a", MaxTokens: 1}, "/v1/completions",
			`{"prompt":"a","stream":true,"max_tokens":1,"temperature":0,"cache_prompt":false,"vllm_xargs":{"a":1},
			  "stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{"omitted fields", Config{Omit: []string{"stream_options", "ignore_eos"}}, engines.Request{Text: "a", MaxTokens: 1, IgnoreEOS: true}, "/v1/completions",
			`{"prompt":"a","stream":true,"max_tokens":1,"temperature":0}`},
		{"running usage omitted", Config{Omit: []string{"continuous_usage_stats", "max_tokens"}, Chat: true}, engines.Request{Text: "a", MaxTokens: 1}, "/v1/chat/completions",
			`{"messages":[{"role":"user","content":"a"}],"stream":true,"max_completion_tokens":1,"temperature":0,"stream_options":{"include_usage":true}}`},
	} {
		t.Run(tt.what, func(t *testing.T) {
			server := &picky{}
			inMemory(t, server, tt.cfg, func(t *testing.T, e *Engine) {
				_, err := e.Generate(t.Context(), &tt.request, func(engines.Chunk) {})
				require.NoError(t, err)
				require.Len(t, server.bodies, 1)
				var want map[string]any
				require.NoError(t, json.Unmarshal([]byte(tt.want), &want))
				assert.Equal(t, want, server.bodies[0])
				assert.Equal(t, tt.path, server.paths[0])
			})
		})
	}
}

func TestHeadersThatAreSent(t *testing.T) {
	server := &picky{}
	cfg := Config{URL: "http://ann:secret@engine", Header: http.Header{"x-team": {"blue"}}}
	inMemory(t, server, cfg, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		e.cfg.APIKey = ""
	})
	keyed := Config{URL: "http://ann:secret@engine", APIKey: "sk-123"}
	inMemory(t, server, keyed, func(t *testing.T, e *Engine) { require.NoError(t, generate(t, e).err) })
	h := server.header[0]
	assert.Equal(t, "r1", h.Get("X-Request-Id"))
	assert.Equal(t, "blue", h.Get("X-Team"))
	assert.Equal(t, "identity", h.Get("Accept-Encoding"))
	assert.Equal(t, "application/json", h.Get("Content-Type"))
	assert.Equal(t, "Basic YW5uOnNlY3JldA==", h.Get("Authorization"))
	assert.Equal(t, "Bearer sk-123", server.header[1].Get("Authorization"), "a key beats user information")
}

func TestFieldsThatAServerRejectsAreDroppedOnceAndSaid(t *testing.T) {
	unknown := func(field string) string {
		return `{"error":{"message":"Unrecognized request argument supplied: ` + field + `"}}`
	}
	exact := func(r *engines.Request) { r.IgnoreEOS, r.MinTokens = true, r.MaxTokens }
	for _, tt := range []struct {
		what     string
		cfg      Config
		rejects  map[string]string
		code     int
		sent     int // requests for the first generation
		warnings []string
		err      string
	}{
		{what: "nothing rejected", sent: 1},
		{what: "running usage", code: 400, rejects: map[string]string{"continuous_usage_stats": unknown("stream_options.continuous_usage_stats")},
			sent: 2, warnings: []string{"the server rejects continuous_usage_stats, which is no longer sent: tokens per event are unknown"}},
		{what: "several, by a validation error", code: 422,
			rejects: map[string]string{
				"min_tokens": `{"detail":[{"type":"extra_forbidden","loc":["body","min_tokens"]}]}`,
				"ignore_eos": `{"detail":[{"type":"extra_forbidden","loc":["body","ignore_eos"]}]}`},
			sent: 3, warnings: []string{
				"the server rejects ignore_eos, which is no longer sent: outputs may end before the length asked",
				"the server rejects min_tokens, which is no longer sent: outputs may be shorter than asked"}},
		{what: "one of chat's limits", cfg: Config{Chat: true}, code: 400,
			rejects: map[string]string{"max_tokens": `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`},
			sent:    2, warnings: []string{"the server rejects max_tokens, which is no longer sent: max_completion_tokens alone limits the output"}},
		{what: "the only limit there is", code: 400, rejects: map[string]string{"max_tokens": unknown("max_tokens")},
			sent: 1, err: "400 Bad Request: Unrecognized request argument supplied: max_tokens"},
		{what: "a value, not a field", code: 400, rejects: map[string]string{"max_tokens": `{"error":{"message":"max_tokens is too large: min_tokens"}}`},
			sent: 1, err: "400 Bad Request: max_tokens is too large: min_tokens"},
		{what: "nothing in particular", code: 400, rejects: map[string]string{"ignore_eos": `no`},
			sent: 1, err: "400 Bad Request: no"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			server := &picky{rejects: tt.rejects, code: tt.code}
			inMemory(t, server, tt.cfg, func(t *testing.T, e *Engine) {
				got := generate(t, e, exact)
				assert.Len(t, server.bodies, tt.sent)
				assert.Equal(t, tt.warnings, got.reply.Warnings)
				if tt.err != "" {
					failure := requireClass(t, engines.Status, got)
					assert.Equal(t, "http://engine: POST /v1/completions: "+tt.err, failure.Message)
					return
				}
				require.NoError(t, got.err)
				got = generate(t, e, exact)
				require.NoError(t, got.err)
				assert.Len(t, server.bodies, tt.sent+1, "the second generation is sent once")
				assert.Equal(t, tt.warnings, got.reply.Warnings, "and says so, too")
			})
		})
	}
}

func TestAfterTheFirstSuccessNothingIsSentTwice(t *testing.T) {
	server := &picky{code: 400}
	inMemory(t, server, Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		server.rejects = map[string]string{"stream_options": "unknown field stream_options"}
		requireClass(t, engines.Status, generate(t, e))
		assert.Len(t, server.bodies, 2)
	})
}

func TestConcurrentRequestsAgreeOnAForm(t *testing.T) {
	server := &picky{code: 400, rejects: map[string]string{"stream_options": "unknown field stream_options", "ignore_eos": "unknown field ignore_eos"}}
	inMemory(t, server, Config{}, func(t *testing.T, e *Engine) {
		var wg sync.WaitGroup
		warnings := make([][]string, 20)
		errs := make([]error, 20)
		for i := range 20 {
			wg.Go(func() {
				r := &engines.Request{Text: "x", MaxTokens: 1, IgnoreEOS: true}
				var reply engines.Reply
				reply, errs[i] = e.Generate(t.Context(), r, func(engines.Chunk) {})
				warnings[i] = reply.Warnings
			})
		}
		wg.Wait()
		for i := range 20 {
			require.NoError(t, errs[i])
			assert.Len(t, warnings[i], 2)
			assert.Equal(t, 1, strings.Count(strings.Join(warnings[i], "\n"), "stream_options"))
		}
	})
}
