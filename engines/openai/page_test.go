package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

const page = `# HELP vllm:num_requests_running Number of requests.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_running{model_name="m",engine="1"} 3.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0"} 0.0
# TYPE vllm:num_requests_waiting_by_reason gauge
vllm:num_requests_waiting_by_reason{reason="capacity"} 7
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0"} 1.234567e+06
# TYPE vllm:prompt_tokens_created gauge
vllm:prompt_tokens_created{engine="0"} 1.7e+09
# TYPE vllm:generation_tokens counter
vllm:generation_tokens{engine="0"} 9
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc 0.25
# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{engine="0",le="1"} 3
vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf"} 4
vllm:e2e_request_latency_seconds_sum{engine="0"} 2.5
vllm:e2e_request_latency_seconds_count{engine="0"} 4
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",engine="0"} 1
# TYPE odd gauge
odd NaN
negative -1
`

func TestSumsOverLabelsByExactName(t *testing.T) {
	p, err := ParsePage(strings.NewReader(page))
	require.NoError(t, err)
	known, unknown := engines.Known, engines.Count{}
	for _, tt := range []struct {
		what  string
		names []string
		want  engines.Count
	}{
		{"over engines", []string{"vllm:num_requests_running"}, known(5)},
		{"zero is a value", []string{"vllm:num_requests_waiting"}, known(0)},
		{"with _total, asked for without", []string{"vllm:prompt_tokens"}, known(1234567)},
		{"with _total, asked for with", []string{"vllm:prompt_tokens_total"}, known(1234567)},
		{"without _total, asked for with", []string{"vllm:generation_tokens_total"}, known(9)},
		{"M22 missing", []string{"vllm:gone"}, unknown},
		{"M22 the first name that is there", []string{"vllm:gone", "vllm:generation_tokens"}, known(9)},
		{"no prefix", []string{"vllm:num_requests"}, unknown},
		{"a share is no count", []string{"vllm:kv_cache_usage_perc"}, unknown},
		{"a histogram's count", []string{"vllm:e2e_request_latency_seconds_count"}, known(4)},
		{"a histogram has no value", []string{"vllm:e2e_request_latency_seconds"}, unknown},
		{"not a number", []string{"odd"}, unknown},
		{"a negative number is no count", []string{"negative"}, unknown},
	} {
		assert.Equal(t, tt.want, p.Count(tt.names...), tt.what)
	}
	for name, want := range map[string]float64{
		"vllm:kv_cache_usage_perc": 0.25, "vllm:e2e_request_latency_seconds_sum": 2.5, "negative": -1,
	} {
		sum, ok := p.Sum(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, sum, name)
	}
	for _, name := range []string{"odd", "gone", "gone_sum", "vllm:num_requests_running_sum"} {
		_, ok := p.Sum(name)
		assert.False(t, ok, name)
	}
	assert.Equal(t, []map[string]string{{"block_size": "16", "engine": "0"}}, p.Labels("vllm:cache_config_info"))
	assert.Nil(t, p.Labels("gone"))
}

func TestM22OldAndNewNames(t *testing.T) {
	for text, want := range map[string]bool{
		"vllm:kv_cache_usage_perc 0.5\n":  true,
		"vllm:gpu_cache_usage_perc 0.5\n": true,
		"vllm:something 1\n":              false,
	} {
		p, err := ParsePage(strings.NewReader(text))
		require.NoError(t, err)
		sum, ok := p.Sum("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
		assert.Equal(t, want, ok, text)
		if want {
			assert.Equal(t, 0.5, sum)
		}
	}
}

func TestPagesThatAreNone(t *testing.T) {
	for what, text := range map[string]string{"empty": "", "HTML": "<html>", "JSON": `{"a":1}`, "cut off": "a 1\nb{c=\"d"} {
		_, err := ParsePage(strings.NewReader(text))
		assert.ErrorContains(t, err, "parse metrics: ", what)
	}
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			assert.Equal(t, "text/plain; version=0.0.4", r.Header.Get("Accept"))
			w.Write([]byte(page))
		case "/page":
			w.Write([]byte("<title>Hello</title>"))
		default:
			http.NotFound(w, r)
		}
	})
	inMemory(t, serve, Config{}, func(t *testing.T, e *Engine) {
		p, err := e.Page(t.Context(), "/metrics")
		require.NoError(t, err)
		assert.Equal(t, engines.Known(5), p.Count("vllm:num_requests_running"))
		_, err = e.Page(t.Context(), "/none")
		failure := requireClass(t, engines.Status, result{err: err})
		assert.Equal(t, 404, failure.Status)
		_, err = e.Page(t.Context(), "/page")
		failure = requireClass(t, engines.Protocol, result{err: err})
		assert.Contains(t, failure.Message, `GET /page: no page of metrics came but an HTML page ("Hello"): parse metrics: `)
	})
}

func TestAnswers(t *testing.T) {
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/big" {
			for range 17 {
				w.Write(make([]byte, 1<<20))
			}
			return
		}
		w.Header().Set("X-Seen", r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Authorization"))
		w.WriteHeader(400)
		w.Write([]byte("busy"))
	})
	inMemory(t, serve, Config{APIKey: "key1"}, func(t *testing.T, e *Engine) {
		answer, err := e.Do(t.Context(), "POST", "/flush_cache?timeout=5", map[string]int{"a": 1})
		require.NoError(t, err, "any status is an answer")
		assert.Equal(t, 400, answer.Status)
		assert.Equal(t, "busy", string(answer.Body))
		assert.Equal(t, "POST /flush_cache?timeout=5 application/json Bearer key1", answer.Header.Get("X-Seen"))
		answer, err = e.Do(t.Context(), "POST", "reset", nil)
		require.NoError(t, err)
		assert.Equal(t, "POST /reset  Bearer key1", answer.Header.Get("X-Seen"))
		_, err = e.Do(t.Context(), "GET", "/big", nil)
		requireClass(t, engines.Protocol, result{err: err})
		_, err = e.Do(t.Context(), "GET", "/x", func() {})
		requireClass(t, engines.Misuse, result{err: err})
		err = e.JSON(t.Context(), "GET", "/x", nil, nil)
		assert.Equal(t, "http://engine: GET /x: 400 Bad Request: busy", requireClass(t, engines.Status, result{err: err}).Message)
	})
}
