package vllm_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/vllm"
)

// attach attaches to a server that answers as routes say, and else as a vLLM
// server out of development mode does.
func attach(t *testing.T, cfg vllm.Config, routes map[string]servertest.Reply) (*vllm.Engine, *servertest.Server) {
	t.Helper()
	s := &servertest.Server{Owner: "vllm", Models: []string{"m"}, Routes: map[string][]servertest.Reply{
		"GET /version": {servertest.JSON(`{"version":"0.31.0"}`)},
	}}
	for route, reply := range routes {
		s.Routes[route] = []servertest.Reply{reply}
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	cfg.URL = h.URL
	e, err := vllm.Attach(t.Context(), cfg)
	require.NoError(t, err)
	return e, s
}

func TestFlush(t *testing.T) {
	const asked = "POST /reset_prefix_cache?reset_external=true"
	const say = "vLLM says whether a reset succeeded since v0.26; with --enable-prompt-tokens-details its replies prove it"
	tests := []struct {
		name  string
		reply servertest.Reply
		want  engines.Flush
	}{
		{"v0.26, done", servertest.JSON(`{"success":true}`),
			engines.Flush{Outcome: engines.Flushed, Detail: asked + `: status 200, {"success":true}`}},
		{"v0.26, not done, and yet 200", servertest.JSON(`{"success":false}`),
			engines.Flush{Outcome: engines.FlushRefused, Detail: asked + `: status 200, {"success":false}`,
				Remedy: "requests still run, or blocks are still being moved: wait until the server is idle"}},
		{"v0.25, done or not", servertest.Reply{Status: 200},
			engines.Flush{Outcome: engines.FlushUnverified, Detail: asked + ": status 200, empty body", Remedy: say}},
		{"success that is no boolean", servertest.JSON(`{"success":"true"}`),
			engines.Flush{Outcome: engines.FlushUnverified, Detail: asked + `: status 200, {"success":"true"}`, Remedy: say}},
		{"a page of a proxy", servertest.Reply{Status: 200, Type: "text/html", Body: "<html>\n <b>hello</b>\n</html>"},
			engines.Flush{Outcome: engines.FlushUnverified, Detail: asked + ": status 200, an HTML page", Remedy: say}},
		{"out of development mode", servertest.Reply{Status: 404, Body: `{"detail":"Not Found"}`},
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: asked + ": status 404, Not Found",
				Remedy: "start the server with VLLM_SERVER_DEV_MODE=1 in its environment"}},
		{"an engine in trouble", servertest.Text(500, "Internal Server Error"),
			engines.Flush{Outcome: engines.FlushRefused, Detail: asked + ": status 500, Internal Server Error",
				Remedy: "see the server's log for why the flush failed"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, s := attach(t, vllm.Config{}, map[string]servertest.Reply{"POST /reset_prefix_cache": test.reply})
			got, err := e.Flush(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			seen := s.Seen()
			assert.Equal(t, asked, seen[len(seen)-1], "asked once, of all tiers")
		})
	}
	t.Run("without the key", func(t *testing.T) {
		e, _ := attach(t, vllm.Config{}, map[string]servertest.Reply{
			"POST /reset_prefix_cache": {Status: 401, Body: `{"error":"Unauthorized"}`}})
		_, err := e.Flush(t.Context())
		assert.EqualError(t, err, "flush vllm: "+asked+": status 401, Unauthorized: "+
			"set Config.APIKey or OPENLOOP_API_KEY to the server's key")
	})
}

// Pages of metrics: names, labels and spellings of several versions.
const (
	pageNow = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 1.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
vllm:num_requests_waiting{engine="1",model_name="m"} 4.0
# TYPE vllm:num_requests_waiting_by_reason gauge
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 3.0
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1000.0
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 500.0
# TYPE vllm:prefix_cache_queries_created gauge
vllm:prefix_cache_queries_created{engine="0",model_name="m"} 1.7e+09
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 16.0
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 0.0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="m"} 1500.0
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="m"} 300.0
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0",model_name="m"} 7.0
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 2.0
vllm:request_success_total{engine="1",finished_reason="length",model_name="m"} 8.0
vllm:request_success_total{engine="1",finished_reason="abort",model_name="m"} 1.0
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.79000000025e+09
`
	pageOld = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="m"} 0.0
# TYPE vllm:gpu_prefix_cache_queries counter
vllm:gpu_prefix_cache_queries{model_name="m"} 80
# TYPE vllm:gpu_prefix_cache_hits counter
vllm:gpu_prefix_cache_hits{model_name="m"} 8
# TYPE vllm:prompt_tokens counter
vllm:prompt_tokens{model_name="m",engine="0"} 90
`
	pageTiers = `# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0"} 100
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0"} 10
# TYPE vllm:external_prefix_cache_queries_total counter
vllm:external_prefix_cache_queries_total{engine="0"} 90
# TYPE vllm:external_prefix_cache_hits_total counter
vllm:external_prefix_cache_hits_total{engine="0"} 30
`
	pageBare = "# TYPE python_info gauge\npython_info{major=\"3\"} 1\n"
)

func page(text string) map[string]servertest.Reply {
	return map[string]servertest.Reply{"GET /metrics": {Body: text, Type: "text/plain; version=0.0.4; charset=utf-8"}}
}

func TestScrapeAndLoad(t *testing.T) {
	n, unknown := engines.Known, engines.Count{}
	tests := []struct {
		name string
		page string
		want engines.Counters
		load engines.Load
	}{
		{"two engines", pageNow, engines.Counters{
			PromptTokens: n(1500), OutputTokens: n(300), Requests: n(11), CacheQueries: n(1500), CacheHits: n(16), Preemptions: n(7),
			Instance: "started 1790000000.25",
		}, engines.Load{Running: n(3), Waiting: n(4)}},
		{"legacy names, much missing", pageOld, engines.Counters{
			PromptTokens: n(90), CacheQueries: n(80), CacheHits: n(8),
		}, engines.Load{Running: n(0), Waiting: unknown}},
		{"a tier behind a connector", pageTiers, engines.Counters{CacheQueries: n(100), CacheHits: n(40)}, engines.Load{}},
		{"--disable-log-stats", pageBare, engines.Counters{}, engines.Load{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := attach(t, vllm.Config{}, page(test.page))
			got, err := e.Scrape(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			load, err := e.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.load, load)
		})
	}
	t.Run("no page", func(t *testing.T) {
		e, _ := attach(t, vllm.Config{}, nil)
		got, err := e.Scrape(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Counters{}, got)
	})
	t.Run("an unreadable page", func(t *testing.T) {
		e, _ := attach(t, vllm.Config{}, page("<html>"))
		_, err := e.Scrape(t.Context())
		assert.ErrorContains(t, err, "scrape vllm: "+e.URL()+": GET /metrics: ")
		_, err = e.Load(t.Context())
		assert.ErrorContains(t, err, "load of vllm: "+e.URL()+": GET /metrics: ")
		_, err = e.Describe(t.Context())
		assert.ErrorContains(t, err, "describe vllm: "+e.URL()+": GET /metrics: ")
	})
}

func TestDescribe(t *testing.T) {
	const cache = "# TYPE vllm:cache_config_info gauge\n" +
		`vllm:cache_config_info{block_size="16",cache_dtype="auto",num_gpu_blocks="1000",num_gpu_blocks_override="None",engine="0"} 1` + "\n"
	const object = `{"vllm_config":{
		"model_config":{"model":"m","dtype":"torch.bfloat16","max_model_len":4096,"enforce_eager":false,"revision":"abc","quantization":null},
		"parallel_config":{"tensor_parallel_size":2,"pipeline_parallel_size":1},
		"scheduler_config":{"max_num_seqs":256,"secret_key":"s3cret"}},
		"vllm_env":{"VLLM_SERVER_DEV_MODE":true},
		"system_env":{"is_cuda_available":"True","nvidia_driver_version":"570.1",
			"nvidia_gpu_models":"GPU 0: NVIDIA H200\nGPU 1: NVIDIA H200\nGPU 2: NVIDIA H200"}}`
	const text = `{"vllm_config":"model='m', dtype=torch.float16, max_seq_len=2048, tensor_parallel_size=1, quantization=None, enforce_eager=True, load_format='dummy'",
		"system_env":{"is_cuda_available":"False","hip_runtime_version":"N/A","nvidia_gpu_models":"Could not collect",
			"cpu_info":"CPU(s): 8\nModel name: Some CPU"}}`
	// As v0.32 on a processor says it, with two settings of one name.
	const processor = `{"vllm_config":{"device_config":{"device":"cpu"},"load_config":{"device":null,"load_format":"dummy"},
		"cache_config":{"block_size":128,"num_gpu_blocks":2048},
		"parallel_config":{"eplb_config":{"policy":"default"},"tensor_parallel_size":1},"scheduler_config":{"policy":"fcfs"}},
		"vllm_env":{"VLLM_CPU_KVCACHE_SPACE":1,"VLLM_CPU_OMP_THREADS_BIND":"auto","VLLM_USE_V1":true},
		"system_env":{"is_cuda_available":"False","nvidia_gpu_models":"GPU 0: NVIDIA H200","nvidia_driver_version":"570.1",
			"cpu_info":"CPU(s): 2\nModel name: Some CPU"}}`
	tests := []struct {
		name   string
		config vllm.Config
		info   string
		page   string
		want   engines.Identity
	}{
		{"out of development mode", vllm.Config{}, "", pageBare, engines.Identity{Settings: map[string]string{}}},
		{"hardware said by the test", vllm.Config{Hardware: "1x X"}, "", cache, engines.Identity{Hardware: "1x X",
			Settings: map[string]string{"block_size": "16", "cache_dtype": "auto", "num_gpu_blocks": "1000"}}},
		{"in development mode", vllm.Config{}, object, cache, engines.Identity{Revision: "abc", Hardware: "2x NVIDIA H200",
			Settings: map[string]string{"block_size": "16", "cache_dtype": "auto", "num_gpu_blocks": "1000",
				"dtype": "torch.bfloat16", "max_model_len": "4096", "enforce_eager": "false", "revision": "abc",
				"tensor_parallel_size": "2", "pipeline_parallel_size": "1", "max_num_seqs": "256", "driver": "570.1"}}},
		{"an older one, on a processor", vllm.Config{}, text, pageBare, engines.Identity{Hardware: "8 cores Some CPU",
			Settings: map[string]string{"dtype": "torch.float16", "tensor_parallel_size": "1", "enforce_eager": "True",
				"load_format": "dummy"}}},
		{"on the processor of a host with a GPU", vllm.Config{}, processor, pageBare, engines.Identity{Hardware: "2 cores Some CPU",
			Settings: map[string]string{"device": "cpu", "load_format": "dummy", "block_size": "128", "num_gpu_blocks": "2048",
				"tensor_parallel_size": "1", "policy": "fcfs", "env.VLLM_CPU_KVCACHE_SPACE": "1", "env.VLLM_CPU_OMP_THREADS_BIND": "auto"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			routes := page(test.page)
			if test.info != "" {
				routes["GET /server_info"] = servertest.JSON(test.info)
			}
			e, _ := attach(t, test.config, routes)
			got, err := e.Describe(t.Context())
			require.NoError(t, err)
			test.want.Engine, test.want.Model, test.want.Version = "vllm", "m", "0.31.0"
			assert.Equal(t, test.want, got)
		})
	}
}

func TestAttachedServer(t *testing.T) {
	e, _ := attach(t, vllm.Config{}, nil)
	_, restarts := any(e).(engines.Restarter)
	_, logs := any(e).(engines.Logger)
	assert.False(t, restarts || logs, "an attached server can be neither restarted nor read")
	assert.NoError(t, e.Close(t.Context()))
	assert.Equal(t, "vllm at "+e.URL(), e.String())
}
