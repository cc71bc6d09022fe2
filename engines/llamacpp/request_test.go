package llamacpp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/llamacpp"
)

// Every request says what may serve it, and that each event is to count.
func TestWhatARequestSays(t *testing.T) {
	for _, cached := range []bool{false, true} {
		var last atomic.Pointer[map[string]any]
		s := &servertest.Server{Owner: "llamacpp", Models: []string{"m"}}
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				body, _ := io.ReadAll(r.Body)
				asked := map[string]any{}
				assert.NoError(t, json.Unmarshal(body, &asked))
				last.Store(&asked)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, stream)
				return
			}
			s.ServeHTTP(w, r)
		}))
		e, err := llamacpp.Attach(t.Context(), llamacpp.Config{URL: h.URL, PromptCache: cached})
		require.NoError(t, err)
		var counts []engines.Count
		reply, err := e.Generate(t.Context(), &engines.Request{Tokens: []int32{5, 6, 7}, MaxTokens: 3, IgnoreEOS: true},
			func(c engines.Chunk) {
				if c.Token {
					counts = append(counts, c.Tokens)
				}
			})
		require.NoError(t, err)
		asked := *last.Load()
		assert.Equal(t, cached, asked["cache_prompt"])
		assert.Equal(t, true, asked["timings_per_token"])
		assert.Equal(t, true, asked["ignore_eos"])
		assert.Equal(t, []any{5., 6., 7.}, asked["prompt"])
		assert.Equal(t, engines.Known(2), reply.CachedTokens)
		assert.Equal(t, engines.Known(3), reply.OutputTokens)
		assert.Equal(t, []engines.Count{engines.Known(1), engines.Known(2)}, counts, "the second event carries a token that had no text yet")
		h.Close()
	}
}

// stream is three tokens in two events: llama.cpp sends none for a token that
// completes no character. Two of the prompt's tokens came from a cache.
const stream = `data: {"choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":null}],"model":"m","object":"text_completion","timings":{"cache_n":2,"prompt_n":1,"prompt_ms":9.5,"predicted_n":1,"predicted_ms":0.001}}

:

data: {"choices":[{"text":"é","index":0,"logprobs":null,"finish_reason":null}],"model":"m","object":"text_completion","timings":{"cache_n":2,"prompt_n":1,"prompt_ms":9.5,"predicted_n":3,"predicted_ms":25.1}}

data: {"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"length"}],"model":"m","object":"text_completion","usage":{"completion_tokens":3,"prompt_tokens":3,"total_tokens":6,"prompt_tokens_details":{"cached_tokens":2}},"timings":{"cache_n":2,"prompt_n":1,"prompt_ms":9.5,"predicted_n":3,"predicted_ms":25.1}}

data: [DONE]

`
