package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines/enginetest"
)

// obedient generates what it is asked for, a token a step, and counts as it is
// asked to count.
func obedient(step time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /v1/models", reply(200, `{"data":[{"id":"m"}]}`))
	serve := func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Prompt    json.RawMessage
			MaxTokens int  `json:"max_tokens"`
			IDs       bool `json:"return_token_ids"`
			Options   struct {
				Usage   bool `json:"include_usage"`
				Running bool `json:"continuous_usage_stats"`
			} `json:"stream_options"`
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		var prompt []int
		_ = json.Unmarshal(ask.Prompt, &prompt)
		w.Header().Set("Content-Type", "text/event-stream")
		usage := func(n int) string {
			return fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d}`, max(len(prompt), 1), n)
		}
		for i := range ask.MaxTokens {
			if step > 0 {
				time.Sleep(step)
			}
			choice, more := `"text":"a","delta":{"content":"a"}`, ""
			if ask.IDs {
				choice += `,"token_ids":[7]`
			}
			if ask.Options.Running {
				more = usage(i + 1)
			}
			if _, err := io.WriteString(w, data(`{"model":"m","choices":[{`+choice+`}]`+more+`}`)); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
		}
		io.WriteString(w, data(`{"choices":[{"text":"","delta":{},"finish_reason":"length"}]}`))
		if ask.Options.Usage {
			io.WriteString(w, data(`{"choices":[]`+usage(ask.MaxTokens)+`}`))
		}
		io.WriteString(w, data(`[DONE]`))
	}
	mux.HandleFunc("POST /v1/completions", serve)
	mux.HandleFunc("POST /v1/chat/completions", serve)
	return mux
}

func TestTheClientConforms(t *testing.T) {
	for what, tt := range map[string]struct {
		cfg Config
		o   enginetest.Options
	}{
		"completions":                  {Config{}, enginetest.Options{}},
		"chat":                         {Config{Chat: true}, enginetest.Options{Text: true}},
		"token ids":                    {Config{TokenIDs: true, Omit: []string{"stream_options"}}, enginetest.Options{}},
		"usage at the end":             {Config{Omit: []string{"continuous_usage_stats"}}, enginetest.Options{}},
		"a server that counts nothing": {Config{Omit: []string{"stream_options"}}, enginetest.Options{}},
	} {
		t.Run(what+", in virtual time", func(t *testing.T) {
			inMemory(t, obedient(5*time.Millisecond), tt.cfg, func(t *testing.T, e *Engine) {
				assert.NoError(t, enginetest.Test(t.Context(), e, tt.o))
			})
		})
		t.Run(what+", over loopback", func(t *testing.T) {
			server := httptest.NewServer(obedient(0))
			defer server.Close()
			tt.cfg.URL = server.URL
			e, err := Attach(t.Context(), tt.cfg)
			require.NoError(t, err)
			defer e.Close()
			assert.NoError(t, enginetest.Test(t.Context(), e, tt.o))
		})
	}
}
