package sim_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/sim"
)

// serve starts a server whose handler is asked directly.
func serve(t *testing.T, cfg sim.Config) func(method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	cfg.Noise = sim.Quiet
	cfg.Profile = fast
	s, err := sim.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		r.Header.Set("X-Request-Id", "r1")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
}

// fast is a profile whose steps take microseconds, for tests in real time.
var fast = sim.Profile{Hardware: "1x Test GPU", WeightBytes: 1e6, KVBytes: 1, Bandwidth: 1e12, Parameters: 1e3, FLOPS: 1e12}

func TestRoutes(t *testing.T) {
	vllm, dev, sglang, trtllm := sim.Config{}, sim.Config{DevMode: true}, sim.Config{Flavor: sim.SGLang}, sim.Config{Flavor: sim.TensorRTLLM}
	const ask = `{"prompt":[1,2,3],"max_tokens":2,"ignore_eos":true}`
	for _, row := range []struct {
		name         string
		cfg          sim.Config
		method, path string
		body         string
		status       int
		has          string // in the reply
	}{
		{"health", vllm, "GET", "/health", "", 200, ""},
		{"ping", vllm, "GET", "/ping", "", 200, ""},
		{"version", vllm, "GET", "/version", "", 200, `{"version":"` + sim.Version + `"}`},
		{"load", vllm, "GET", "/load", "", 200, `{"server_load":0}`},
		{"models", vllm, "GET", "/v1/models", "", 200, `"id":"meta-llama/Meta-Llama-3-8B-Instruct"`},
		{"owner of models", sglang, "GET", "/v1/models", "", 200, `"owned_by":"sglang"`},
		{"tokenize", vllm, "POST", "/tokenize", `{"prompt":"a b"}`, 200, `"tokens":[0,1]`},
		{"tokenize a chat", vllm, "POST", "/tokenize", `{"messages":[{"role":"user","content":"a"}],"return_token_strs":true}`, 200, `"count":11`},
		{"tokenize nothing", vllm, "POST", "/tokenize", `{}`, 400, `messages must not be empty`},
		{"detokenize", vllm, "POST", "/detokenize", `{"tokens":[0,27]}`, 200, `{"prompt":" a ab"}`},
		{"detokenize what is none", vllm, "POST", "/detokenize", `{"tokens":[999999]}`, 400, `out of vocabulary`},
		{"flush outside development mode", vllm, "POST", "/reset_prefix_cache", "", 404, `Not Found`},
		{"info outside development mode", vllm, "GET", "/server_info", "", 404, `Not Found`},
		{"flush", dev, "POST", "/reset_prefix_cache", "", 200, `{"success":true}`},
		{"flush by GET", dev, "GET", "/reset_prefix_cache", "", 405, `Method Not Allowed`},
		{"flush by GET outside development mode", vllm, "GET", "/reset_prefix_cache", "", 404, `Not Found`},
		{"reset of multi-modal cache", dev, "POST", "/reset_mm_cache", "", 200, ``},
		{"info", dev, "GET", "/server_info?config_format=json", "", 200, `"max_num_seqs":64`},
		{"info as text", dev, "GET", "/server_info", "", 200, `"vllm_config":"{`},
		{"SGLang's flush on vLLM", dev, "POST", "/flush_cache", "", 404, ``},
		{"vLLM's flush on SGLang", sglang, "POST", "/reset_prefix_cache", "", 404, ``},
		{"SGLang's flush", sglang, "POST", "/flush_cache", "", 200, "Cache flushed.\nPlease check"},
		{"SGLang's flush by GET", sglang, "GET", "/flush_cache?timeout=1.5", "", 200, "Cache flushed."},
		{"SGLang's flush with a bad time-out", sglang, "POST", "/flush_cache?timeout=-1", "", 400, "timeout must be a number of seconds"},
		{"SGLang's model", sglang, "GET", "/model_info", "", 200, `"is_generation":true`},
		{"SGLang's model, as it was", sglang, "GET", "/get_model_info", "", 200, `"tokenizer_path"`},
		{"SGLang's info", sglang, "GET", "/server_info", "", 200, `"max_running_requests":64`},
		{"SGLang's loads", sglang, "GET", "/v1/loads", "", 200, `"num_waiting_reqs":0`},
		{"SGLang's load, as it was", sglang, "GET", "/get_load", "", 404, `Not Found`},
		{"TensorRT-LLM's models", trtllm, "GET", "/v1/models", "", 200, `"object":"model","owned_by":"tensorrt_llm"}`},
		{"TensorRT-LLM's version", trtllm, "GET", "/version", "", 200, `{"version":"` + sim.Version + `"}`},
		{"TensorRT-LLM's health", trtllm, "GET", "/health_generate", "", 200, "Generation health check OK"},
		{"TensorRT-LLM's statistics", trtllm, "GET", "/metrics", "", 200, "[]"},
		{"vLLM's flush on TensorRT-LLM", trtllm, "POST", "/reset_prefix_cache", "", 404, "Not Found"},
		{"SGLang's flush on TensorRT-LLM", trtllm, "POST", "/flush_cache", "", 404, "Not Found"},
		{"no ping on TensorRT-LLM", trtllm, "GET", "/ping", "", 404, "Not Found"},
		{"a completion on TensorRT-LLM", trtllm, "POST", "/v1/completions", `{"model":"` + sim.DefaultModel + `","prompt":[1,2],"max_tokens":2,"ignore_eos":true,"min_tokens":2}`, 200, `"completion_tokens":2`},
		{"a salt on TensorRT-LLM", trtllm, "POST", "/v1/completions", `{"prompt":"a","cache_salt":"s"}`, 400, `{"error":"[{'type': 'extra_forbidden', 'loc': ('body', 'cache_salt'), 'msg': 'Extra inputs are not permitted', 'input': \"s\"}]"}`},
		{"a salt in a chat on TensorRT-LLM", trtllm, "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":2,"cache_salt":"s"}`, 200, `"cached_tokens":0`},
		{"token ids in a chat on TensorRT-LLM", trtllm, "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"return_token_ids":true}`, 400, `'return_token_ids'`},
		{"an error on TensorRT-LLM", trtllm, "POST", "/v1/completions", `{"prompt":""}`, 400, `{"code":400,"message":"the prompt is empty: it must have at least one token","object":"error","param":null,"type":"BadRequestError"}`},
		{"SGLang's readiness", sglang, "GET", "/ready", "", 200, ""},
		{"metrics", vllm, "GET", "/metrics", "", 200, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"meta-llama/Meta-Llama-3-8B-Instruct\"} 0\n"},
		{"SGLang's metrics", sglang, "GET", "/metrics", "", 200, "\nsglang:num_retracted_reqs{"},
		{"no such route", vllm, "GET", "/nothing", "", 404, "Not Found"},

		{"a completion", vllm, "POST", "/v1/completions", ask, 200, `"object":"text_completion"`},
		{"its counts", vllm, "POST", "/v1/completions", ask, 200, `"completion_tokens":2,"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":5`},
		{"a chat", vllm, "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"max_completion_tokens":3,"ignore_eos":true}`, 200, `"completion_tokens":3,"prompt_tokens":11`},
		{"a prompt in a list", vllm, "POST", "/v1/completions", `{"prompt":["a b c"],"max_tokens":1}`, 200, `"prompt_tokens":3`},
		{"token ids in a list", vllm, "POST", "/v1/completions", `{"prompt":[[5,6]],"max_tokens":1}`, 200, `"prompt_tokens":2`},
		{"two prompts", vllm, "POST", "/v1/completions", `{"prompt":["a","b"]}`, 400, `"message":"prompt must be a string`},
		{"no prompt", vllm, "POST", "/v1/completions", `{}`, 400, `"param":"prompt"`},
		{"an empty prompt", vllm, "POST", "/v1/completions", `{"prompt":""}`, 400, "the prompt is empty"},
		{"no JSON", vllm, "POST", "/v1/completions", `prompt=a`, 400, "not a valid request"},
		{"another model", vllm, "POST", "/v1/completions", `{"model":"x","prompt":"a"}`, 404, "{\"error\":{\"code\":404,\"message\":\"The model `x` does not exist.\",\"param\":\"model\",\"type\":\"NotFoundError\"}}"},
		{"another model on SGLang", sglang, "POST", "/v1/completions", `{"model":"x","prompt":"a"}`, 404, `"object":"error"`},
		{"too long", vllm, "POST", "/v1/completions", `{"prompt":"a","max_tokens":9000}`, 400, "maximum context length is 8192 tokens"},
		{"no tokens asked for", vllm, "POST", "/v1/completions", `{"prompt":"a","max_tokens":0}`, 400, "max_tokens must be at least 1, got 0"},
		{"more at least than at most", vllm, "POST", "/v1/completions", `{"prompt":"a","max_tokens":2,"min_tokens":3}`, 400, "min_tokens must be from 0 to max_tokens=2, got 3"},
		{"a negative temperature", vllm, "POST", "/v1/completions", `{"prompt":"a","temperature":-1}`, 400, "temperature must be non-negative"},
		{"a token that is none", vllm, "POST", "/v1/completions", `{"prompt":[1,128256]}`, 400, "out of vocabulary"},
		{"two answers", vllm, "POST", "/v1/completions", `{"prompt":"a","n":2}`, 400, "n must be 1, got 2"},
		{"a salt that is none", vllm, "POST", "/v1/completions", `{"prompt":"a","cache_salt":""}`, 400, "cache_salt must be 1 to 128 characters"},
		{"a type that is wrong", vllm, "POST", "/v1/completions", `{"prompt":"a","max_tokens":"2"}`, 400, `"param":"max_tokens"`},
		{"an image", vllm, "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "only text is served"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := serve(t, row.cfg)(row.method, row.path, row.body)
			if w.Code != row.status || !strings.Contains(w.Body.String(), row.has) {
				t.Errorf("status %d, body %q; want %d and %q", w.Code, w.Body.String(), row.status, row.has)
			}
		})
	}
}

func TestABodyThatIsNotCalledJSONIsRefused(t *testing.T) {
	s, err := sim.NewServer(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(`{"prompt":"a"}`)))
	if w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("status %d, want 415", w.Code)
	}
}

func TestHealthGenerateTakesASecondAndAToken(t *testing.T) {
	inBubble(t, sim.Config{Flavor: sim.SGLang}, func(t *testing.T, m *sim.Memory) {
		w := httptest.NewRecorder()
		began := time.Now()
		m.Server().Handler().ServeHTTP(w, httptest.NewRequest("GET", "/health_generate", nil))
		if took := time.Since(began); w.Code != 200 || took != time.Second {
			t.Errorf("status %d after %v, want 200 after 1s", w.Code, took)
		}
	})
}
