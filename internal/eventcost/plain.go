//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// plain is what one writes with net/http: a scanner over the body's lines.
func plain(parse func(data []byte) (tokens int, err error)) func(string) (func(*line) error, error) {
	return func(root string) (func(*line) error, error) {
		t := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1 << 20}
		return func(l *line) error {
			req, err := http.NewRequest(http.MethodPost, root+"/v1/completions", strings.NewReader(`{"prompt":"hello","stream":true}`))
			if err != nil {
				return err
			}
			req.Header.Set("X-Request-Id", l.id)
			resp, err := t.RoundTrip(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			tokens, done := 0, false
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() {
				data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
				if !ok {
					continue
				}
				at := nullserver.Now()
				if string(data) == "[DONE]" {
					done = true
					continue
				}
				n, err := parse(data)
				if err != nil {
					return err
				}
				if n > 0 {
					tokens += n
					l.event(at)
				}
			}
			if err := lines.Err(); err != nil {
				return err
			}
			if !done {
				return fmt.Errorf("%s: %w", l.id, io.ErrUnexpectedEOF)
			}
			return nil
		}, nil
	}
}

// scanned looks for the text of an event and for nothing else.
func scanned(data []byte) (int, error) {
	_, rest, ok := bytes.Cut(data, []byte(`"text":"`))
	if !ok || len(rest) == 0 || rest[0] == '"' {
		return 0, nil
	}
	return 1, nil
}

// decoded reads an event with encoding/json.
func decoded(data []byte) (int, error) {
	var e struct {
		Choices []struct {
			Text         string
			FinishReason *string `json:"finish_reason"`
		}
		Usage *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return 0, err
	}
	if len(e.Choices) == 0 || e.Choices[0].Text == "" {
		return 0, nil
	}
	return 1, nil
}
