package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
)

// Asks are the requests whose streams are compared: both routes, with and
// without all that a client can ask to be told.
var Asks = []struct {
	Name, Path string
	Fields     map[string]any
}{
	{"a completion", "/v1/completions", map[string]any{"prompt": prompt}},
	{"a completion that tells all", "/v1/completions", map[string]any{"prompt": prompt, "stream_options": all, "return_token_ids": true}},
	{"a chat", "/v1/chat/completions", map[string]any{"messages": dialogue}},
	{"a chat that tells all", "/v1/chat/completions", map[string]any{"messages": dialogue, "stream_options": all}},
}

var (
	prompt   = []int{1000, 1001, 1002, 1003}
	all      = map[string]bool{"include_usage": true, "continuous_usage_stats": true}
	dialogue = []map[string]string{{"role": "user", "content": "what is it"}}
)

// Ask sends a request for a stream of 24 tokens and returns its shape.
func Ask(root, model, path string, fields map[string]any) ([]string, error) {
	body := maps.Clone(fields)
	body["model"], body["stream"], body["temperature"], body["ignore_eos"] = model, true, 0, true
	body["max_tokens"], body["min_tokens"] = 24, 24
	sent, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	resp, err := http.Post(root+path, "application/json", bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	came, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("shape: %s: %s: %s", path, resp.Status, came)
	}
	return Stream(came)
}
