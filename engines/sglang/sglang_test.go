package sglang_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/sglang"
)

// attach attaches to a server that answers as routes say.
func attach(t *testing.T, cfg sglang.Config, routes map[string]servertest.Reply) (*sglang.Engine, *servertest.Server) {
	t.Helper()
	s := &servertest.Server{Owner: "sglang", Models: []string{"m"}, Routes: map[string][]servertest.Reply{}}
	for route, reply := range routes {
		s.Routes[route] = []servertest.Reply{reply}
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	cfg.URL = h.URL
	e, err := sglang.Attach(t.Context(), cfg)
	require.NoError(t, err)
	return e, s
}

func TestFlush(t *testing.T) {
	const (
		asked   = "POST /flush_cache?timeout=5"
		flushed = "Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n"
		quoted  = "Cache flushed. Please check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)"
		busy    = "requests still run or wait: wait until the server is idle"
	)
	tests := []struct {
		name  string
		reply servertest.Reply
		want  engines.Flush
	}{
		{"done", servertest.Text(200, flushed),
			engines.Flush{Outcome: engines.Flushed, Detail: asked + ": status 200, " + quoted}},
		{"refused", servertest.Text(400, "Flush cache failed.\n"),
			engines.Flush{Outcome: engines.FlushRefused, Detail: asked + ": status 400, Flush cache failed.", Remedy: busy}},
		{"refused after it has waited, as since 2026", servertest.Reply{Status: 400, Body: "Timed out waiting for idle state."},
			engines.Flush{Outcome: engines.FlushRefused, Detail: asked + ": status 400, Timed out waiting for idle state.", Remedy: busy}},
		{"refused in the words of success, as in 2025", servertest.Text(400, flushed),
			engines.Flush{Outcome: engines.FlushRefused, Detail: asked + ": status 400, " + quoted, Remedy: busy}},
		{"hidden", servertest.Reply{Status: 404, Body: `{"detail":"Not Found"}`},
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: asked + ": status 404, Not Found",
				Remedy: "something between here and the server hides /flush_cache: attach to the server itself"}},
		{"in trouble", servertest.Text(500, "Internal Server Error"),
			engines.Flush{Outcome: engines.FlushRefused, Detail: asked + ": status 500, Internal Server Error",
				Remedy: "see the server's log for why the flush failed"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, s := attach(t, sglang.Config{}, map[string]servertest.Reply{"POST /flush_cache": test.reply})
			got, err := e.Flush(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			seen := s.Seen()
			assert.Equal(t, asked, seen[len(seen)-1])
		})
	}
	t.Run("an admin key wanted", func(t *testing.T) {
		e, _ := attach(t, sglang.Config{}, map[string]servertest.Reply{
			"POST /flush_cache": {Status: 401, Body: `{"error":"Unauthorized"}`}})
		_, err := e.Flush(t.Context())
		assert.EqualError(t, err, "flush sglang: "+asked+": status 401, Unauthorized: "+
			"set Config.AdminKey to the server's admin key")
	})
}

// With an admin key the flush sends that one, and everything else the usual
// one.
func TestAdminKey(t *testing.T) {
	usual := &servertest.Server{Owner: "sglang", Models: []string{"m"}, Key: "usual-key"}
	admin := &servertest.Server{Key: "admin-key", Routes: map[string][]servertest.Reply{
		"POST /flush_cache": {servertest.Text(200, "Cache flushed.")}}}
	mux := http.NewServeMux()
	mux.Handle("/flush_cache", admin)
	mux.Handle("/", usual)
	h := httptest.NewServer(mux)
	defer h.Close()
	e, err := sglang.Attach(t.Context(), sglang.Config{URL: h.URL, APIKey: "usual-key", AdminKey: "admin-key"})
	require.NoError(t, err)
	got, err := e.Flush(t.Context())
	require.NoError(t, err)
	assert.Equal(t, engines.Flushed, got.Outcome)
	_, err = e.Describe(t.Context())
	require.NoError(t, err)
	assert.Len(t, admin.Seen(), 1)
}

const page = `# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{engine_type="unified",model_name="m",pp_rank="0",tp_rank="0"} 3.0
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{engine_type="unified",model_name="m",pp_rank="0",tp_rank="0"} 1.0
# TYPE sglang:prompt_tokens_total counter
sglang:prompt_tokens_total{model_name="m"} 8.1e+03
# TYPE sglang:generation_tokens_total counter
sglang:generation_tokens_total{model_name="m"} 400.0
# TYPE sglang:cached_tokens_total counter
sglang:cached_tokens_total{cache_source="device",model_name="m"} 20.0
sglang:cached_tokens_total{cache_source="host",model_name="m"} 5.0
# TYPE sglang:num_requests_total counter
sglang:num_requests_total{is_streaming="true",model_name="m"} 12.0
sglang:num_requests_total{is_streaming="false",model_name="m"} 1.0
# TYPE sglang:num_retracted_requests_total counter
sglang:num_retracted_requests_total{model_name="m"} 2.0
# TYPE sglang:num_retracted_reqs gauge
sglang:num_retracted_reqs{model_name="m"} 9.0
`

func TestScrapeAndLoad(t *testing.T) {
	n := engines.Known
	metrics := servertest.Reply{Body: page, Type: "text/plain; version=0.0.4"}
	counted := engines.Counters{
		PromptTokens: n(8100), OutputTokens: n(400), Requests: n(13), CacheQueries: n(8100), CacheHits: n(25), Preemptions: n(2),
	}
	tests := []struct {
		name   string
		routes map[string]servertest.Reply
		want   engines.Counters
		load   engines.Load
	}{
		{"two ranks, asked directly", map[string]servertest.Reply{
			"GET /metrics":  metrics,
			"GET /v1/loads": servertest.JSON(`{"loads":[{"dp_rank":0,"num_running_reqs":2,"num_waiting_reqs":1},{"dp_rank":1,"num_running_reqs":0,"num_waiting_reqs":4}]}`),
		}, counted, engines.Load{Running: n(2), Waiting: n(5)}},
		{"an older server: the gauges", map[string]servertest.Reply{"GET /metrics": metrics},
			counted, engines.Load{Running: n(3), Waiting: n(1)}},
		{"a gateway's loads: the gauges", map[string]servertest.Reply{
			"GET /metrics":  metrics,
			"GET /v1/loads": servertest.JSON(`{"total_workers":1,"loads":[{"worker":"http://w","load":0}]}`),
		}, counted, engines.Load{Running: n(3), Waiting: n(1)}},
		{"without --enable-metrics", nil, engines.Counters{}, engines.Load{}},
		{"no counter of cached tokens yet", map[string]servertest.Reply{
			"GET /metrics": {Body: "# TYPE sglang:prompt_tokens_total counter\nsglang:prompt_tokens_total 7\n", Type: "text/plain"},
		}, engines.Counters{PromptTokens: n(7)}, engines.Load{}},
		{"no counter of cached tokens yet, of a version that has one", map[string]servertest.Reply{
			"GET /metrics": {Body: "# TYPE sglang:prompt_tokens_total counter\n" +
				"sglang:prompt_tokens_total{is_streaming=\"true\",model_name=\"m\"} 7\nsglang:prompt_tokens_total{is_streaming=\"false\",model_name=\"m\"} 3\n" +
				"# TYPE sglang:fwd_occupancy gauge\nsglang:fwd_occupancy{model_name=\"m\"} NaN\n", Type: "text/plain"},
		}, engines.Counters{PromptTokens: n(10), CacheQueries: n(10), CacheHits: n(0)}, engines.Load{}},
		{"no counters yet", map[string]servertest.Reply{
			"GET /metrics": {Body: "# TYPE sglang:num_retracted_reqs gauge\nsglang:num_retracted_reqs 0\n", Type: "text/plain"},
		}, engines.Counters{}, engines.Load{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := attach(t, sglang.Config{}, test.routes)
			got, err := e.Scrape(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			load, err := e.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.load, load)
		})
	}
}

func TestDescribe(t *testing.T) {
	const info = `{"model_path":"m","version":"0.5.20","api_key":"s3cret","admin_api_key":"s3cret","revision":"abc",
		"tp_size":2,"dp_size":1,"mem_fraction_static":0.85,"attention_backend":"fa3","disable_radix_cache":false,
		"quantization":null,"max_running_requests":256,"internal_states":[{}]}`
	want := engines.Identity{Engine: "sglang", Version: "0.5.20", Model: "m", Revision: "abc", Hardware: "2x X",
		Settings: map[string]string{"revision": "abc", "tp_size": "2", "dp_size": "1", "mem_fraction_static": "0.85",
			"attention_backend": "fa3", "disable_radix_cache": "false", "max_running_requests": "256"}}
	for _, route := range []string{"GET /server_info", "GET /get_server_info"} {
		t.Run(route, func(t *testing.T) {
			e, _ := attach(t, sglang.Config{Hardware: "2x X"}, map[string]servertest.Reply{route: servertest.JSON(info)})
			got, err := e.Describe(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	const h200 = `{"accelerator":"NVIDIA H200","num_accelerators":2,"loads":`
	for _, row := range []struct{ name, info, loads, want string }{
		{"sizes untold, two ranks", ``, h200 + `[{"dp_rank":0},{"dp_rank":1}]}`, "4x NVIDIA H200"},
		{"sizes untold, no rank", ``, h200 + `[]}`, ""},
		{"sizes told", `,"tp_size":2,"pp_size":1,"dp_size":2`, h200 + `[{"dp_rank":0},{"dp_rank":1}]}`, "4x NVIDIA H200"},
		{"sizes told, a rank that does not tell", `,"tp_size":2,"pp_size":1,"dp_size":2`, h200 + `[{"dp_rank":0}]}`, "4x NVIDIA H200"},
		{"sizes told, no rank that tells", `,"tp_size":2,"pp_size":1,"dp_size":2`, h200 + `[]}`, "4x NVIDIA H200"},
		{"ranks that share devices", `,"tp_size":4,"pp_size":1,"dp_size":4,"enable_dp_attention":true`, h200 + `[{},{},{},{}]}`, "4x NVIDIA H200"},
		{"no kind", `,"tp_size":1`, `{"accelerator":null,"num_accelerators":1,"loads":[{"dp_rank":0}]}`, ""},
		{"an older server's loads", `,"tp_size":1`, `{"loads":[{"dp_rank":0}]}`, ""},
		{"another's loads", `,"tp_size":1`, `[]`, ""},
	} {
		t.Run("the devices of a server with "+row.name, func(t *testing.T) {
			e, _ := attach(t, sglang.Config{}, map[string]servertest.Reply{
				"GET /server_info": servertest.JSON(`{"device":"cuda"` + row.info + `}`), "GET /v1/loads": servertest.JSON(row.loads)})
			got, err := e.Describe(t.Context())
			require.NoError(t, err)
			assert.Equal(t, row.want, got.Hardware)
		})
	}
	t.Run("on a processor there are none", func(t *testing.T) {
		e, _ := attach(t, sglang.Config{}, map[string]servertest.Reply{
			"GET /server_info": servertest.JSON(`{"device":"cpu"}`),
			"GET /v1/loads":    servertest.JSON(`{"accelerator":"cpu","num_accelerators":1,"loads":[{}]}`)})
		got, err := e.Describe(t.Context())
		require.NoError(t, err)
		assert.Empty(t, got.Hardware)
	})
	t.Run("told nothing", func(t *testing.T) {
		e, _ := attach(t, sglang.Config{}, nil)
		got, err := e.Describe(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Identity{Engine: "sglang", Model: "m", Settings: map[string]string{}}, got)
		assert.Equal(t, "sglang at "+e.URL(), e.String())
	})
}
