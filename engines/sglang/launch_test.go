package sglang_test

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
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/sim"
)

// The test binary stands for sglang.launch_server: with this variable set it
// says its arguments and serves, itself or the embedded engine, or, without the
// package, dies as python does.
const roleName = "SGLANG_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleName) {
	case "":
		if os.Getenv("OPENLOOP_SGLANG_PYTHON") == "" {
			servertest.Unset() // the real server's variables are for its tests
		}
		os.Exit(m.Run())
	case "absent":
		fmt.Println("/usr/bin/python3: No module named sglang")
		os.Exit(1)
	}
	flags := map[string]string{}
	for i, arg := range os.Args {
		if strings.HasPrefix(arg, "--") && i+1 < len(os.Args) {
			flags[arg] = os.Args[i+1]
		}
	}
	fmt.Println("arguments:", strings.Join(os.Args[1:], " "))
	var h http.Handler = &servertest.Server{Owner: "sglang", Models: []string{flags["--model-path"]}, Key: flags["--api-key"]}
	if os.Getenv(roleName) == "embedded" {
		s, err := sim.NewServer(sim.Config{Flavor: sim.SGLang, Model: flags["--model-path"]})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		h = s.Handler()
	}
	fmt.Println(http.ListenAndServe("127.0.0.1:"+flags["--port"], h))
	os.Exit(1)
}

func launch(t *testing.T, cfg sglang.Config) (*sglang.Server, error) {
	t.Helper()
	cfg.Command = []string{os.Args[0], "-m", "sglang.launch_server"}
	cfg.LogFile = filepath.Join(t.TempDir(), "sglang.log")
	e, stop, err := sglang.Launch(t.Context(), cfg)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { assert.NoError(t, stop(context.WithoutCancel(t.Context()))) })
	return e.(*sglang.Server), nil
}

func TestLaunchedServer(t *testing.T) {
	e, err := launch(t, sglang.Config{
		Model: "org/model", APIKey: "sesame-open", Hardware: "1x X",
		Args: []string{"--chunked-prefill-size", "-1", "--enable-metrics"}, Env: []string{roleName + "=serve"},
	})
	require.NoError(t, err)
	id, err := e.Describe(t.Context())
	require.NoError(t, err)
	port := e.URL()[strings.LastIndex(e.URL(), ":")+1:]
	arguments := "-m sglang.launch_server --model-path org/model --host 127.0.0.1 --port " + port +
		" --enable-cache-report --api-key [redacted] --chunked-prefill-size -1 --enable-metrics"
	assert.Equal(t, engines.Identity{
		Engine: "sglang", Model: "org/model", Hardware: "1x X",
		Settings: map[string]string{"chunked_prefill_size": "-1", "enable_metrics": "true", "env." + roleName: "serve"},
		Command:  os.Args[0] + " " + arguments,
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
	assert.Equal(t, "arguments: "+arguments+"\n", string(log), "the key is in no file")
}

func TestPythonWithoutSGLang(t *testing.T) {
	_, err := launch(t, sglang.Config{Model: "m", Env: []string{roleName + "=absent"}})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "start sglang: exited with code 1 after ")
	assert.True(t, strings.HasSuffix(err.Error(), "\n    /usr/bin/python3: No module named sglang\n"+
		`the interpreter found has no such package: install SGLang (pip install "sglang[all]"), `+
		"or set Config.Command to one that has, or OPENLOOP_SGLANG_URL to the URL of a server that runs"), err.Error())
}
