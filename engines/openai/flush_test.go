package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// said is what a server answers.
type said struct {
	status int
	body   string
}

// flushable is a server with the answers of some routes, and one token for
// every generation. strict refuses a body with a cache_salt by the status and
// body given.
type flushable struct {
	owner  string
	routes map[string]said
	strict said
	asked  []string
	salted int
}

func (s *flushable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	if reply, ok := s.routes[r.URL.Path]; ok {
		w.WriteHeader(reply.status)
		_, _ = io.WriteString(w, reply.body)
		return
	}
	switch r.URL.Path {
	case "/v1/models":
		_, _ = io.WriteString(w, `{"data":[{"id":"m","owned_by":"`+s.owner+`"}]}`)
	case "/v1/completions":
		var ask map[string]any
		_ = json.NewDecoder(r.Body).Decode(&ask)
		if _, salted := ask["cache_salt"]; salted {
			if s.salted++; s.strict.status != 0 {
				w.WriteHeader(s.strict.status)
				_, _ = io.WriteString(w, s.strict.body)
				return
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"detail":"Not Found"}`)
	}
}

// serve is a client of the server.
func (s *flushable) serve(t *testing.T) *Engine {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	e, err := New(Config{URL: h.URL, Model: "m"})
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	return e
}

const (
	resetting = "POST /reset_prefix_cache?reset_external=true: status "
	flushing  = "POST /flush_cache?timeout=5: status "
)

func TestFlushBySomebodyElsesRoute(t *testing.T) {
	const (
		wait    = "requests may still run: wait until the server is idle"
		silent  = "the answer says nothing of success: only the cached tokens of replies prove it"
		flushed = "Cache flushed.\nPlease check backend logs for more details."
	)
	for _, row := range []struct {
		name, path string
		status     int
		body       string
		want       engines.Flush
	}{
		{"vLLM's, done", "/reset_prefix_cache", 200, `{"success":true}`,
			engines.Flush{Outcome: engines.Flushed, Detail: resetting + `200, {"success":true}`}},
		{"vLLM's, refused by 200", "/reset_prefix_cache", 200, `{"success":false}`,
			engines.Flush{Outcome: engines.FlushRefused, Detail: resetting + `200, {"success":false}`, Remedy: wait}},
		{"vLLM's before 0.26, without a word", "/reset_prefix_cache", 200, "",
			engines.Flush{Outcome: engines.FlushUnverified, Detail: resetting + "200, empty body", Remedy: silent}},
		{"a page that answers everything", "/reset_prefix_cache", 200, "<html><title>Welcome</title></html>",
			engines.Flush{Outcome: engines.FlushUnverified, Detail: resetting + `200, an HTML page ("Welcome")`, Remedy: silent}},
		{"SGLang's, done", "/flush_cache", 200, flushed,
			engines.Flush{Outcome: engines.Flushed, Detail: flushing + "200, Cache flushed. Please check backend logs for more details."}},
		{"SGLang's, refused in the words of success", "/flush_cache", 400, flushed,
			engines.Flush{Outcome: engines.FlushRefused, Detail: flushing + "400, Cache flushed. Please check backend logs for more details.", Remedy: wait}},
		{"a key that may not", "/flush_cache", 403, `{"error":"Forbidden"}`,
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: resetting + "404, Not Found; " + flushing + "403, Forbidden", Remedy: "set Config.APIKey to a key that may flush"}},
		{"trouble", "/reset_prefix_cache", 500, `{"error":{"message":"boom"}}`,
			engines.Flush{Outcome: engines.FlushRefused, Detail: resetting + "500, boom", Remedy: "see the server's log for why the flush failed"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &flushable{owner: "acme", routes: map[string]said{row.path: {row.status, row.body}}}
			got, err := s.serve(t).Flush(t.Context())
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
			assert.Equal(t, got.Outcome != engines.Flushed, s.salted == 1, "a salt is tried where nothing was flushed")
		})
	}
}

// A server without a flush: what rules reuse out there, and whether its
// requests may carry a cache salt.
func TestServersWithoutAFlush(t *testing.T) {
	const (
		absent = `POST /reset_prefix_cache?reset_external=true: status 404, Not Found; POST /flush_cache?timeout=5: status 404, Not Found`
		strict = `{"error":"[{'type': 'extra_forbidden', 'loc': ('body', 'cache_salt'), 'msg': 'Extra inputs are not permitted', 'input': 'openloop'}]"}`
		no     = "; requests with a cache_salt are refused (status 400: [{'type': 'extra_forbidden', 'loc': ('body', 'cache_salt'), 'msg': 'Extra inputs are not permitted', 'input': 'openloop'}])"
	)
	for _, row := range []struct {
		name, owner string
		status      int
		body        string
		remedy      string
		detail      string
		saltless    bool
		probes      int // of two flushes
	}{
		{"TensorRT-LLM", "tensorrt_llm", 400, strict,
			"TensorRT-LLM has no flush: to rule reuse out set kv_cache_config.enable_block_reuse to false in its configuration", absent + no, true, 1},
		{"a gateway that checks strictly", "acme", 422, `{"detail":"Unrecognized request argument supplied: cache_salt"}`,
			"to rule reuse out start the server without a prefix cache (Text Generation Inference: PREFIX_CACHING=0), or restart it between runs",
			absent + "; requests with a cache_salt are refused (status 422: Unrecognized request argument supplied: cache_salt)", true, 1},
		{"LMDeploy, which ignores what it does not know", "lmdeploy", 0, "",
			"LMDeploy has no flush: to rule reuse out start it without --enable-prefix-caching", absent, false, 1},
		{"Ollama", "library", 0, "",
			"Ollama has no flush, and reuses prompts always: measure its llama-server by engines/llamacpp", absent, false, 1},
		{"vLLM out of development mode", "vllm", 0, "",
			"start vLLM with VLLM_SERVER_DEV_MODE=1 in its environment, and attach by engines/vllm", absent, false, 1},
		{"one that will have no more now", "tensorrt_llm", 429, "too many requests",
			"TensorRT-LLM has no flush: to rule reuse out set kv_cache_config.enable_block_reuse to false in its configuration", absent, false, 2},
		{"one that dislikes the value", "acme", 400, `{"error":"cache_salt is too short"}`,
			"to rule reuse out start the server without a prefix cache (Text Generation Inference: PREFIX_CACHING=0), or restart it between runs", absent, false, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &flushable{owner: row.owner}
			s.strict = said{row.status, row.body}
			e := s.serve(t)
			want := engines.Flush{Outcome: engines.FlushUnsupported, Detail: row.detail, Remedy: row.remedy, Saltless: row.saltless}
			for range 2 {
				got, err := e.Flush(t.Context())
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
			assert.Equal(t, row.probes, s.salted)
		})
	}
}

// A route that leads elsewhere, or wants another key, does not keep the next from
// being asked, nor a salt from being tried.
func TestFlushRoutesThatAreBarred(t *testing.T) {
	const (
		key    = "set Config.APIKey to a key that may flush"
		moved  = "the URL is not the server's root, or wants a login: correct it"
		refuse = "; requests with a cache_salt are refused (status 400: unknown field cache_salt)"
	)
	for _, row := range []struct {
		name          string
		first, second int
		body          string // of the second
		strict        bool
		want          engines.Flush
	}{
		{"403, then done", 403, 200, "Cache flushed.", false, engines.Flush{Outcome: engines.Flushed, Detail: flushing + "200, Cache flushed."}},
		{"302, then done", 302, 200, "Cache flushed.", true, engines.Flush{Outcome: engines.Flushed, Detail: flushing + "200, Cache flushed."}},
		{"401, then refused", 401, 400, "busy", false,
			engines.Flush{Outcome: engines.FlushRefused, Detail: flushing + "400, busy", Remedy: "requests may still run: wait until the server is idle"}},
		{"302 twice", 302, 302, "", false,
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: resetting + "302, empty body; " + flushing + "302, empty body", Remedy: moved}},
		{"302, then 401", 302, 401, "", false,
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: resetting + "302, empty body; " + flushing + "401, empty body", Remedy: key}},
		{"403, then nothing there, and a salt is refused", 403, 404, "", true,
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: resetting + "403, empty body; " + flushing + "404, empty body" + refuse, Remedy: key, Saltless: true}},
		{"403 twice, and a salt is refused", 403, 403, "", true,
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: resetting + "403, empty body; " + flushing + "403, empty body" + refuse, Remedy: key, Saltless: true}},
		{"trouble, and a salt is refused", 500, 200, "Cache flushed.", true,
			engines.Flush{Outcome: engines.FlushRefused, Detail: resetting + "500, empty body" + refuse, Remedy: "see the server's log for why the flush failed", Saltless: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &flushable{owner: "acme", routes: map[string]said{"/reset_prefix_cache": {row.first, ""}, "/flush_cache": {row.second, row.body}}}
			if row.strict {
				s.strict = said{400, "unknown field cache_salt"}
			}
			got, err := s.serve(t).Flush(t.Context())
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestAFlushThatCannotBeAsked(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	h.Close()
	e, err := New(Config{URL: h.URL, Model: "m", APIKey: "sesame-open"})
	require.NoError(t, err)
	_, err = e.Flush(t.Context())
	require.Error(t, err)
	assert.True(t, strings.HasPrefix(err.Error(), "flush: "+h.URL+": POST /reset_prefix_cache?reset_external=true: connection refused"), err.Error())
	assert.NotContains(t, err.Error(), "sesame")
}
