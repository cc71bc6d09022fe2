package vllm_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// The test binary stands for vllm: with this variable set it says its
// arguments and what a log would say, and serves.
// "embedded" serves the embedded engine.
const roleName = "VLLM_TEST_LOG"

func TestMain(m *testing.M) {
	log, role := os.LookupEnv(roleName)
	if !role {
		if os.Getenv("OPENLOOP_VLLM_SERVER") == "" {
			servertest.Unset() // the real server's variables are for its tests
		}
		os.Exit(m.Run())
	}
	fmt.Println("arguments:", strings.Join(os.Args[1:], " "))
	fmt.Println("dev mode:", os.Getenv("VLLM_SERVER_DEV_MODE"))
	fmt.Println(log)
	var h http.Handler = &servertest.Server{Owner: "vllm", Models: os.Args[2:3], Key: os.Getenv("VLLM_API_KEY"),
		Routes: map[string][]servertest.Reply{"GET /version": {servertest.JSON(`{"version":"0.31.0"}`)}}}
	if log == "embedded" {
		s, err := sim.NewServer(sim.Config{DevMode: true, Model: os.Args[2], Log: os.Stdout})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		h = s.Handler()
	}
	for i, arg := range os.Args {
		if arg == "--port" {
			fmt.Println(http.ListenAndServe("127.0.0.1:"+os.Args[i+1], h))
		}
	}
	os.Exit(1)
}

func launch(t *testing.T, cfg vllm.Config) *vllm.Server {
	t.Helper()
	cfg.Command = []string{os.Args[0], "serve"}
	cfg.LogFile = filepath.Join(t.TempDir(), "vllm.log")
	e, stop, err := vllm.Launch(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, stop(context.WithoutCancel(t.Context()))) })
	return e.(*vllm.Server)
}

func TestLaunchedServer(t *testing.T) {
	e := launch(t, vllm.Config{
		Model: "org/model", APIKey: "sesame-open", Hardware: "1x X",
		Args: []string{"--max-num-seqs", "64", "-tp", "1"}, Env: []string{roleName + "=loading"},
	})
	id, err := e.Describe(t.Context())
	require.NoError(t, err)
	port := e.URL()[strings.LastIndex(e.URL(), ":")+1:]
	arguments := "serve org/model --host 127.0.0.1 --port " + port + " --enable-prompt-tokens-details --max-num-seqs 64 -tp 1"
	assert.Equal(t, engines.Identity{
		Engine: "vllm", Version: "0.31.0", Model: "org/model", Hardware: "1x X",
		Settings: map[string]string{"max_num_seqs": "64", "tensor_parallel_size": "1", "env." + roleName: "loading"},
		Command:  os.Args[0] + " " + arguments,
	}, id)
	c, err := e.Scrape(t.Context())
	require.NoError(t, err)
	assert.Contains(t, c.Instance, "start 1, pid ")

	require.NoError(t, e.Close(t.Context()))
	log, err := os.ReadFile(e.LogFile())
	require.NoError(t, err)
	assert.Equal(t, "arguments: "+arguments+"\ndev mode: 1\nloading\n", string(log))
}

func TestCompileEvents(t *testing.T) {
	const (
		on    = "(EngineCore pid=7) INFO 09-01 10:00:00 [jit_monitor.py:80] Kernel JIT monitor activated; monitored JIT compilations during inference will use mode=warn."
		event = "(EngineCore pid=7) WARNING 09-01 10:00:09 [jit_monitor.py:120] Triton kernel JIT compilation during inference: _gumbel_sample_kernel. This causes a latency spike; consider extending warmup to cover this shape/config."
		other = "(EngineCore pid=7) WARNING 09-01 10:00:12 [jit_monitor.py:120] TileLang JIT compilation during inference: mm (m=8). This causes a latency spike; consider extending warmup to cover this shape/config."
	)
	tests := []struct {
		name string
		log  []string
		want engines.Count
	}{
		{"no monitor", []string{"Graph capturing finished in 3 secs"}, engines.Count{}},
		{"a monitor that saw nothing", []string{on}, engines.Known(0)},
		{"two events", []string{on, event, "Running: 1 reqs", other}, engines.Known(2)},
		{"a graph compiled for a request", []string{on, "(Worker pid=9) INFO 11-29 17:57:14 [decorators.py:743] [backbone] saved AOT compiled function to /root/.cache/vllm/torch_compile_cache/torch_aot_compile/42c2/rank_0_0/model"}, engines.Known(1)},
		{"a graph from its cache, without a monitor", []string{"(Worker pid=9) INFO 11-29 18:20:14 [decorators.py:319] [backbone] Directly load AOT compilation from path /root/.cache/vllm/torch_compile_cache/torch_aot_compile/42c2/rank_0_0/model"}, engines.Known(0)},
		{"an autotuning", []string{on, "Triton autotuning for function mm,", "with key as (8, 16),", "finished after 1.20s,"}, engines.Known(1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := launch(t, vllm.Config{Model: "m", Env: []string{roleName + "=" + strings.Join(test.log, "\n")}})
			require.NoError(t, e.Close(t.Context())) // the log is whole now
			got, err := e.CompileEvents(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}
