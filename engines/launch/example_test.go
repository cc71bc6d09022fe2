package launch_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/llamacpp"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// One configuration serves all engine packages: here a process on the second
// GPU of this host, once as vLLM and once as llama.cpp.
func ExampleConfig() {
	var t *testing.T // the test's
	cfg := launch.Config{Model: "/models/llama", GPUs: "1", StartBudget: 15 * time.Minute}
	engine := vllm.Start(t, cfg)
	_ = engine // for benchtest.Measure

	cfg.Model, cfg.Parallel = "/models/llama.gguf", 8
	other := llamacpp.Start(t, cfg)
	_ = other
}

// A configuration prints without its secrets.
func ExampleConfig_String() {
	cfg := launch.Config{
		Model: "llama", URL: "https://ann:sesame@gate:8443", APIKey: "sesame", GPUs: "all",
		Args: []string{"--seed", "7"}, Env: []string{"HF_TOKEN=sesame"},
	}
	fmt.Println(cfg)
	fmt.Printf("%#v\n", launch.Config{APIKey: "sesame"})
	fmt.Println(launch.Config{Model: "llama", URL: "ann:sesame@gate:8443"}) // its scheme is missing
	slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})).Info("start", "config", cfg)
	// Output:
	// model llama, at https://gate:8443, GPUs all, 2 arguments, 1 variables
	// launch.Config{model (the server's)}
	// model llama, at (not a URL)
	// level=INFO msg=start config="model llama, at https://gate:8443, GPUs all, 2 arguments, 1 variables"
}

// Whichever the verb, no key is printed.
func ExampleConfig_Format() {
	fmt.Printf("%d\n", launch.Config{Model: "llama", APIKey: "sesame"})
	// Output:
	// model llama
}

// What a container is to keep between its starts: the weights, and what
// compilers made of them.
func ExampleMount() {
	home, _ := os.UserHomeDir()
	cfg := launch.Config{
		Model: "meta-llama/Meta-Llama-3-8B-Instruct", Image: "vllm/vllm-openai:v0.26.0",
		GPUs: "0,1", ShmSize: 8 << 30, Args: []string{"-tp", "2"},
		Mounts: []launch.Mount{
			{Source: home + "/.cache/huggingface", Target: "/root/.cache/huggingface"},
			{Source: "vllm-cache", Target: "/root/.cache/vllm"}, // a volume of Docker's
		},
		Env: []string{"HF_TOKEN=" + os.Getenv("HF_TOKEN")}, // kept out of logs and files
	}
	_ = cfg // with container.Launcher{} as its Launcher
}

// inProcess is a launcher that starts no program: the embedded engine serves
// from this very process.
type inProcess struct{}

func (inProcess) Launch(_ context.Context, spec launch.Spec) (*launch.Running, error) {
	at := launch.Place{Host: "127.0.0.1", Port: 8000, Temp: os.TempDir()}
	fmt.Println(spec.Name, spec.Args(at)[0], spec.Grace)
	engine, err := sim.NewServer(sim.Config{Model: "tiny", DevMode: true, Log: spec.Log})
	if err != nil {
		return nil, fmt.Errorf("start the embedded engine: %w", err)
	}
	h := httptest.NewServer(engine.Handler())
	done := make(chan struct{})
	end := sync.OnceFunc(func() { h.Close(); _ = engine.Close(); close(done) })
	return &launch.Running{
		URL: h.URL, ID: "this process", Command: []string{"sim"}, Local: true,
		Settings: map[string]string{"embedded": "true"}, Done: done,
		Ended: func() string { return "ended" },
		Stop:  func(context.Context) error { end(); return nil },
	}, nil
}

// A launcher of one's own starts servers where no other one reaches: on a
// cluster, through a supervisor, or here in the same process.
func ExampleLauncher() {
	ctx := context.Background()
	engine, stop, err := vllm.Launch(ctx, vllm.Config{Model: "tiny", Launcher: inProcess{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := engine.(*vllm.Server)
	id, err := server.Describe(ctx)
	fmt.Println(id.Model, id.Command, id.Settings["embedded"], err)
	fmt.Println(stop(ctx))
	// Output:
	// vllm tiny 10s
	// tiny sim true <nil>
	// <nil>
}
