package llamacpp_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/hardware"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/llamacpp"
)

// The test binary stands for llama-server: with this variable set it lists its
// devices, says its arguments and serves, or dies as llama-server does.
const roleName = "LLAMACPP_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleName)
	if role == "" {
		if os.Getenv("OPENLOOP_LLAMACPP_SERVER") == "" {
			servertest.Unset() // the real server's variables are for its tests
		}
		os.Exit(m.Run())
	}
	if slices.Contains(os.Args, "--list-devices") {
		fmt.Print("load_backend: loaded\nAvailable devices:\n", devices[role])
		return
	}
	flags := map[string]string{}
	for i, arg := range os.Args {
		if strings.HasPrefix(arg, "--") && i+1 < len(os.Args) {
			flags[arg] = os.Args[i+1]
		}
	}
	fmt.Println("arguments:", strings.Join(os.Args[1:], " "))
	if role == "missing" {
		fmt.Println("0.00.003.763 E gguf_init_from_file: failed to open GGUF file '" + flags["--model"] + "' (No such file or directory)")
		fmt.Println("0.00.004.243 E srv  llama_server: exiting due to model loading error")
		os.Exit(1)
	}
	s := &servertest.Server{Owner: "llamacpp", Models: []string{flags["--alias"]}, Key: os.Getenv("LLAMA_API_KEY"),
		Routes: map[string][]servertest.Reply{"GET /props": {servertest.JSON(props)}}}
	for slot := range 4 {
		s.Routes[fmt.Sprintf("POST /slots/%d", slot)] = []servertest.Reply{servertest.JSON(`{"id_slot":0,"n_erased":3}`)}
	}
	fmt.Println(http.ListenAndServe("127.0.0.1:"+flags["--port"], s))
	os.Exit(1)
}

// devices are the lists of several builds on several hosts.
var devices = map[string]string{
	"serve": "  (none)\n",
	"gpus": "  CUDA0: NVIDIA H200 (143156 MiB, 142528 MiB free)\n" +
		"  CUDA1: NVIDIA H200 (143156 MiB, 142528 MiB free)\n" +
		"  BLAS: OpenBLAS (0 MiB, 0 MiB free)\n",
	"other": "  CUDA0 is an NVIDIA H200\n",
	"blas":  "  BLAS: OpenBLAS (0 MiB, 0 MiB free)\n",
}

func launch(t *testing.T, cfg llamacpp.Config) (*llamacpp.Server, error) {
	t.Helper()
	cfg.Command = []string{os.Args[0]}
	cfg.LogFile = filepath.Join(t.TempDir(), "llama.log")
	e, stop, err := llamacpp.Launch(t.Context(), cfg)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { assert.NoError(t, stop(context.WithoutCancel(t.Context()))) })
	return e.(*llamacpp.Server), nil
}

func TestLaunchedServer(t *testing.T) {
	e, err := launch(t, llamacpp.Config{
		Model: "/models/gemma-3.gguf", APIKey: "sesame-open", Threads: 2, Parallel: 4, ContextSize: 4096,
		Args: []string{"-ub", "256", "--no-mmap"}, Env: []string{roleName + "=serve"},
	})
	require.NoError(t, err)
	id, err := e.Describe(t.Context())
	require.NoError(t, err)
	port := e.URL()[strings.LastIndex(e.URL(), ":")+1:]
	arguments := "--model /models/gemma-3.gguf --alias gemma-3 --host 127.0.0.1 --port " + port +
		" --metrics --slot-save-path " + os.TempDir() +
		" --threads 2 --parallel 4 --ctx-size 4096 --cache-ram 0 --no-cache-prompt -ub 256 --no-mmap"
	assert.Equal(t, engines.Identity{
		Engine: "llamacpp", Version: "b9931-abc1234", Model: "gemma-3", Hardware: hardware.Host(),
		Settings: map[string]string{
			"threads": "2", "parallel": "4", "ctx_size": "4096", "cache_ram": "0", "no_cache_prompt": "true",
			"ubatch_size": "256", "no_mmap": "true", "prompt_cache": "false", "env." + roleName: "serve",
			"total_slots": "4", "n_ctx_slot": "1024", "model_path": "/models/m.gguf", "model_ftype": "Q4_K - Medium",
		},
		Command: os.Args[0] + " " + arguments,
	}, id)
	first, err := e.Scrape(t.Context())
	require.NoError(t, err)
	require.NoError(t, e.Restart(t.Context()))
	second, err := e.Scrape(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, first.Instance, second.Instance)

	require.NoError(t, e.Close(t.Context()))
	log, err := os.ReadFile(strings.TrimSuffix(e.LogFile(), "-2.log") + ".log")
	require.NoError(t, err)
	assert.Equal(t, "arguments: "+arguments+"\n", string(log), "the key is in no command line")
}

// What a flush of all slots is worth depends on what else may serve a prompt.
func TestFlushOfALaunchedServer(t *testing.T) {
	for _, test := range []struct {
		name    string
		config  llamacpp.Config
		outcome engines.FlushOutcome
	}{
		{"no request reads a cache", llamacpp.Config{Args: []string{"--cache-ram", "512"}}, engines.Flushed},
		{"no cache but the slots'", llamacpp.Config{PromptCache: true}, engines.Flushed},
		{"a cache in memory", llamacpp.Config{PromptCache: true, Args: []string{"-cram", "512"}}, engines.FlushUnverified},
		{"a cache in memory, spelled out", llamacpp.Config{PromptCache: true, Args: []string{"--cache-ram", "-1"}}, engines.FlushUnverified},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Model, test.config.Env = "m.gguf", []string{roleName + "=serve"}
			e, err := launch(t, test.config)
			require.NoError(t, err)
			f, err := e.Flush(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.outcome, f.Outcome)
			assert.Equal(t, "POST /slots/{0…3}?action=erase: 12 tokens erased", f.Detail)
		})
	}
}

// The build says which devices it computes on: one without the host's GPU is
// another baseline's, however like its command line is.
func TestHardwareOfALaunchedServer(t *testing.T) {
	for _, test := range []struct {
		name, role string
		args       []string
		want       string
	}{
		{"the processor", "serve", nil, hardware.Host()},
		{"two GPUs", "gpus", nil, "2x NVIDIA H200"},
		{"two GPUs that are not used", "gpus", []string{"-ngl", "0"}, hardware.Host()},
		{"what is not understood is left to the host", "other", nil, hardware.Local(t.Context(), nil, 0)},
		{"a library for the processor is no device", "blas", nil, hardware.Host()},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := launch(t, llamacpp.Config{Model: "m.gguf", Args: test.args, Env: []string{roleName + "=" + test.role}})
			require.NoError(t, err)
			id, err := e.Describe(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, id.Hardware)
		})
	}
}

func TestWhatALaunchRefuses(t *testing.T) {
	_, err := launch(t, llamacpp.Config{Threads: -1, Parallel: -2, ContextSize: -3, Args: []string{"-t", "8", "--port=1"}})
	assert.EqualError(t, err, "llamacpp: Config.Threads must be positive, or 0 for the server's own choice, got -1\n"+
		"llamacpp: Config.Parallel must be positive, or 0 for the server's own choice, got -2\n"+
		"llamacpp: Config.ContextSize must be positive, or 0 for the server's own choice, got -3\n"+
		"llamacpp: Config.Args must not hold -t: set Config.Threads\n"+
		"llamacpp: Config.Args must not hold --port: every start gets a free one of its own\n"+
		"llamacpp: Config.Model must name the model to serve, or OPENLOOP_LLAMACPP_URL or OPENLOOP_ENGINE_URL a server that runs")
}

func TestNoSuchModel(t *testing.T) {
	_, err := launch(t, llamacpp.Config{Model: "/nowhere.gguf", Env: []string{roleName + "=missing"}})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "start llamacpp: exited with code 1 after ")
	assert.Contains(t, err.Error(), "failed to open GGUF file '/nowhere.gguf'")
	assert.True(t, strings.HasSuffix(err.Error(),
		"\nthe model is no file that llama.cpp can read: check Config.Model (the path of a .gguf file)"), err.Error())
}
