package container_test

import (
	"context"
	"fmt"
	"testing"

	api "github.com/moby/moby/api/types/container"

	"github.com/openloop-go/openloop/engines/container"
	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/vllm"
)

// A test has its server in a container, on all GPUs, with what it compiled for
// the start before. With OPENLOOP_VLLM_URL set it attaches to that one instead.
func ExampleLauncher() {
	var t *testing.T // the test's
	engine := vllm.Start(t, vllm.Config{
		Model:    "meta-llama/Meta-Llama-3-8B-Instruct",
		Launcher: container.Launcher{Image: "vllm/vllm-openai:v0.26.0", IPC: "host"},
		GPUs:     "all",
		Mounts: []launch.Mount{
			{Source: "huggingface", Target: "/root/.cache/huggingface"},
			{Source: "vllm-cache", Target: "/root/.cache/vllm"},
		},
	})
	_ = engine // for benchtest.Measure
}

// What the configuration has no field for is Docker's own: here limits, for a
// server on the processor.
func ExampleLauncher_Launch() {
	limited := container.Launcher{
		Image: "openloop-sim",
		Configure: func(_ *api.Config, host *api.HostConfig) {
			host.Memory = 4 << 30
			host.CpusetCpus = "0-3"
		},
	}
	ctx := context.Background()
	engine, stop, err := sglang.Launch(ctx, sglang.Config{
		Model: "any", Launcher: limited, Command: []string{"/openloop", "sim", "-flavor", "sglang"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx)
	_ = engine // for benchtest.Run
}

// A CI job begins with a clean host, whatever became of the jobs before it.
func ExampleReap() {
	removed, err := container.Reap(context.Background())
	fmt.Println(removed, err)
}
