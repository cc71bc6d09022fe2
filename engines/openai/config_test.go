package openai

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestEverythingWrongWithAConfigurationIsSaidAtOnce(t *testing.T) {
	_, err := New(Config{
		URL: "127.0.0.1:8000", APIKey: "sk-1\n", Header: http.Header{"a b": {"x"}},
		Extra: map[string]any{"stream": false, "f": func() {}}, Omit: []string{"prompt"}, Silence: -time.Second,
	})
	assert.EqualError(t, err, `openai: Config.APIKey holds a line end: trim it
openai: Config.Extra is not JSON: json: unsupported type: func()
openai: Config.Extra must not set "stream": the client sets it from the request
openai: Config.Header "a b" is no valid header
openai: Config.Omit must name optional fields (continuous_usage_stats, return_token_ids, stream_options, max_tokens, max_completion_tokens, min_tokens, ignore_eos), got "prompt"
openai: Config.Silence must not be negative, got -1s
openai: Config.URL must be http://HOST:PORT or https://HOST, got "127.0.0.1:8000"`)
}

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:8000":                     "http://h:8000",
		"http://h:8000/":                    "http://h:8000",
		"http://h:8000/v1":                  "http://h:8000",
		"http://h:8000/v1/":                 "http://h:8000",
		"https://ann:secret@h/gateway/v1//": "https://h/gateway",
		"http://[::1]:8000":                 "http://[::1]:8000",
	} {
		e, err := New(Config{URL: url})
		require.NoError(t, err, url)
		assert.Equal(t, want, e.URL(), url)
	}
	for url, want := range map[string]string{
		"":                       "openai: Config.URL is missing: set the server's root, as in http://127.0.0.1:8000",
		"localhost:8000":         `openai: Config.URL must be http://HOST:PORT or https://HOST, got "localhost:8000"`,
		"ftp://h":                `openai: Config.URL must be http://HOST:PORT or https://HOST, got "ftp://h"`,
		"http://":                `openai: Config.URL must be http://HOST:PORT or https://HOST, got "http:"`,
		"http://:8000":           `openai: Config.URL must be http://HOST:PORT or https://HOST, got "http://:8000"`,
		"http://h:65536":         "openai: Config.URL must have a port up to 65535, got 65536",
		"http://h:port":          `openai: Config.URL must be http://HOST:PORT or https://HOST, got "http://h:port"`,
		"http://h/v1?key=1":      `openai: Config.URL must end with its path, without query or fragment: use "http://h/v1" and Config.Header`,
		"http://ann:secret@h:po": "openai: Config.URL cannot be parsed: it must be http://HOST:PORT or https://HOST",
		"ann:secret@h:1":         "openai: Config.URL must be http://HOST:PORT or https://HOST; it is not shown, as it may hold a secret",
		"http:/ann:secret@h":     "openai: Config.URL must be http://HOST:PORT or https://HOST; it is not shown, as it may hold a secret",
		"ftp://ann:secret@h":     `openai: Config.URL must be http://HOST:PORT or https://HOST, got "ftp://ann:xxxxx@h"`,
	} {
		_, err := New(Config{URL: url})
		assert.EqualError(t, err, want, url)
	}
}

func TestSecretsAreNeverSaid(t *testing.T) {
	cfg := Config{
		URL: "http://ann:password1@engine/gateway", APIKey: "sk-secret2", Model: "m",
		Header: http.Header{"X-Api-Key": {"sk-secret3"}, "X-Short": {"a"}, "X-Auth": {"Bearer sk-secret4"}},
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("attach", "config", cfg)
	texts := []string{log.String(), fmt.Sprint(cfg), fmt.Sprint(Config{URL: "http://ann:password1@h?key=sk-secret2#sk-secret3"}), fmt.Sprintf("%+v %#v %s", cfg, cfg, cfg), cfg.String()}
	for _, verb := range []string{"%d", "%x", "%t", "%q", "%8.3v", "%U"} {
		texts = append(texts, fmt.Sprintf(verb, cfg), fmt.Sprintf(verb, &cfg), fmt.Sprintf(verb, []Config{cfg}))
	}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":"wrong: %s %s password1 a %s"}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), strings.Fields(r.Header.Get("X-Auth"))[1])
	})
	inMemory(t, echo, cfg, func(t *testing.T, e *Engine) {
		for _, verb := range []string{"%d", "%x", "%t"} {
			texts = append(texts, fmt.Sprintf(verb, e))
		}
		texts = append(texts, fmt.Sprintf("%v %+v %#v %s %q", e, e, e, e, e), fmt.Sprintf("%+v %#v", struct{ *Engine }{e}, struct{ E engines.Engine }{e}))
		assert.Equal(t, "openai at http://engine/gateway", fmt.Sprint(e))
		got := generate(t, e)
		failure := requireClass(t, engines.Unauthorized, got)
		assert.Contains(t, failure.Message, "wrong: Bearer [redacted] [redacted] [redacted] a [redacted]")
		_, err := e.Models(t.Context())
		answer, failed := e.Do(t.Context(), "POST", "/flush", nil)
		require.NoError(t, failed)
		texts = append(texts, string(answer.Body), failure.Message, err.Error(), fmt.Sprintf("%+v", got.err), e.URL())
	})
	inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, data(`{"error":"key sk-secret2 is over its limit"}`))
	}), cfg, func(t *testing.T, e *Engine) { texts = append(texts, generate(t, e).err.Error()) })
	for _, url := range []string{"ann:password1@engine:8443", "http:/ann:password1@engine", "http://ann:password1@h:po"} {
		assert.Equal(t, "openai at (not a URL), /v1/completions, model (the server's)", Config{URL: url}.String())
		_, err := New(Config{URL: url})
		texts = append(texts, err.Error(), pointsTo(url))
	}
	texts = append(texts, pointsTo("http://ann:password1@h/?key=sk-secret2#sk-secret3"))
	for _, text := range texts {
		for _, secret := range []string{"password1", "sk-secret2", "sk-secret3", "sk-secret4"} {
			assert.NotContains(t, text, secret)
		}
	}
	assert.Equal(t, "openai at http://engine/gateway, /v1/completions, model m", cfg.String())
}
