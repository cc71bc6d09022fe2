package sim_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/sim"
)

// TestStreamsToTheByte shows what a client reads. Virtual time begins at the
// turn of the year 2000.
func TestStreamsToTheByte(t *testing.T) {
	for _, row := range []struct {
		name, path, body string
		cfg              sim.Config
		want             string
	}{
		{"a completion", "/v1/completions", `{"prompt":[7,8],"max_tokens":2,"ignore_eos":true,"stream":true}`, sim.Config{}, `
data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" csvr","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}

data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" cmgo","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,"token_ids":null}],"system_fingerprint":"vllm-sim-1"}

data: [DONE]

`},
		{"with counts and token ids", "/v1/completions", `{"prompt":[7,8],"max_tokens":1,"stream":true,"return_token_ids":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, sim.Config{}, `
data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" csvr","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":[7,8],"token_ids":[66161]}],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1}}

data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}},"system_fingerprint":"vllm-sim-1"}

data: [DONE]

`},
		{"a chat on SGLang", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true}}`, sim.Config{Flavor: sim.SGLang}, `
data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":null,"role":"assistant","content":""},"logprobs":null,"finish_reason":null,"matched_stop":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":null,"content":" cuii"},"logprobs":null,"finish_reason":null,"matched_stop":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":null},"logprobs":null,"finish_reason":"length","matched_stop":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":11,"total_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0},"reasoning_tokens":0,"completion_tokens_details":null}}

data: [DONE]

`},
		{"a chat on SGLang, with running counts", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, sim.Config{Flavor: sim.SGLang}, `
data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":null,"role":"assistant","content":""},"logprobs":null,"finish_reason":null,"matched_stop":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":null,"content":" cuii"},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":{"prompt_tokens":11,"total_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0},"reasoning_tokens":0,"completion_tokens_details":null}}

data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":null},"logprobs":null,"finish_reason":"length","matched_stop":null}]}

data: {"id":"r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":11,"total_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0},"reasoning_tokens":0,"completion_tokens_details":null}}

data: [DONE]

`},
		{"a chat on vLLM, with running counts", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, sim.Config{Faults: sim.Faults{HideCached: true}}, `
data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":11,"total_tokens":11,"completion_tokens":0,"completion_tokens_details":null},"prompt_token_ids":null,"prompt_text":null}

data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"content":" cuii"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}],"usage":{"prompt_tokens":11,"total_tokens":12,"completion_tokens":1,"completion_tokens_details":null}}

data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":11,"total_tokens":12,"completion_tokens":1},"system_fingerprint":"vllm-sim-1"}

data: [DONE]

`},
		{"a chat on vLLM", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true}}`, sim.Config{}, `
data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}

data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[{"index":0,"delta":{"content":" cuii"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":11,"total_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0,"created_cache_tokens":0}},"system_fingerprint":"vllm-sim-1"}

data: [DONE]

`},
		{"a completion on SGLang, with counts and token ids", "/v1/completions", `{"prompt":[7,8],"max_tokens":1,"stream":true,"return_token_ids":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, sim.Config{Flavor: sim.SGLang}, `
data: {"id":"r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" csvr","logprobs":null,"finish_reason":"length","matched_stop":null,"token_ids":[66161],"prompt_token_ids":[7,8]}],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1,"prompt_tokens_details":null,"reasoning_tokens":0,"completion_tokens_details":null}}

data: {"id":"r1","object":"text_completion","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0},"reasoning_tokens":0}}

data: [DONE]

`},
		{"a completion on TensorRT-LLM, with counts", "/v1/completions", `{"model":"m","prompt":[7,8],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true}}`, sim.Config{Flavor: sim.TensorRTLLM}, `
data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" csvr","logprobs":null,"finish_reason":"length","stop_reason":null}]}

data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}}}

data: [DONE]

`},
		{"with the time of each event", "/v1/completions", `{"prompt":[7,8],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true}}`, sim.Config{Noise: sim.Quiet, StampEvents: true}, `
data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" csvr","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,"token_ids":null}],"sent":TIME}

data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}},"system_fingerprint":"vllm-sim-1","sent":TIME}

data: [DONE]

`},
		{"several tokens an event, as asked for, and no counts", "/v1/completions", `{"prompt":[7,8],"max_tokens":4,"ignore_eos":true,"stream":true,"stream_interval":2,"cache_salt":"s","stream_options":{"include_usage":true}}`, sim.Config{Faults: sim.Faults{NoUsage: true}}, `
data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" csvr","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}

data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" cmgo udr","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}

data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" adw","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,"token_ids":null}],"system_fingerprint":"vllm-sim-1"}

data: [DONE]

`},
		{"an error half-way", "/v1/completions", `{"prompt":[7,8],"max_tokens":3,"ignore_eos":true,"stream":true}`, sim.Config{Faults: sim.Faults{StreamErrorShare: 1}}, `
data: {"id":"cmpl-r1","object":"text_completion","created":946684800,"model":"m","choices":[{"index":0,"text":" csvr","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}

data: {"error":{"message":"EngineCore encountered an issue","type":"InternalServerError","param":null,"code":500}}

data: [DONE]

`},
	} {
		sent := regexp.MustCompile(`"sent":[0-9]+`)
		t.Run(row.name, func(t *testing.T) {
			row.cfg.Model = "m"
			inBubble(t, row.cfg, func(t *testing.T, m *sim.Memory) {
				r := httptest.NewRequest("POST", row.path, strings.NewReader(row.body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("X-Request-Id", "r1")
				w := httptest.NewRecorder()
				m.Server().Handler().ServeHTTP(w, r)
				if got := "\n" + sent.ReplaceAllString(w.Body.String(), `"sent":TIME`); got != row.want || w.Code != 200 {
					t.Errorf("status %d, got%swant%s", w.Code, got, row.want)
				}
			})
		})
	}
}
