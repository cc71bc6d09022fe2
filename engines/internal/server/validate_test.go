package server

import (
	"testing"

	"github.com/openloop-go/openloop/engines/launch"
)

// nothing is a launcher that is not asked to start anything.
type nothing struct{ launch.Launcher }

// A field that would mean nothing is refused, in one sentence.
func TestFieldsThatMeanNothingAreRefused(t *testing.T) {
	const remedy = "set Config.Launcher (container.Launcher of engines/container), or leave it out"
	tests := []struct {
		name   string
		config launch.Config
		want   string // "" is that it is good
	}{
		{"an image of a process", launch.Config{Image: "vllm/vllm-openai:v0.26.0"},
			`vllm: Config.Image "vllm/vllm-openai:v0.26.0" is for a container, and without a launcher a process is started: ` + remedy},
		{"mounts of a process", launch.Config{Mounts: []launch.Mount{{Source: "/w", Target: "/w"}}},
			"vllm: Config.Mounts are for a container, and a process sees all files of this host: " + remedy},
		{"shared memory of a process", launch.Config{ShmSize: 1},
			"vllm: Config.ShmSize is for a container, and a process has the shared memory of this host: " + remedy},
		{"all of them in a container", launch.Config{Launcher: nothing{}, Image: "i", ShmSize: 1, Mounts: []launch.Mount{{Source: "/w", Target: "/w"}}}, ""},
		{"shared memory below nothing", launch.Config{Launcher: nothing{}, ShmSize: -1},
			"vllm: Config.ShmSize must not be negative, got -1"},
		{"a mount without a target", launch.Config{Launcher: nothing{}, Mounts: []launch.Mount{{Source: "/w", Target: "w"}}},
			`vllm: Config.Mounts must have a source and an absolute target, got "/w" at "w"`},
		{"all GPUs", launch.Config{GPUs: "all"}, ""},
		{"two GPUs", launch.Config{GPUs: "0,GPU-8f"}, ""},
		{"GPUs with a space", launch.Config{GPUs: "0, 1"}, `vllm: Config.GPUs must be "all", or indices or UUIDs as in "0,1", got "0, 1"`},
		{"GPUs as Docker's flag has them", launch.Config{GPUs: "device=0"}, `vllm: Config.GPUs must be "all", or indices or UUIDs as in "0,1", got "device=0"`},
		{"GPUs twice", launch.Config{GPUs: "1", Env: []string{"CUDA_VISIBLE_DEVICES=1"}},
			"vllm: Config.GPUs and CUDA_VISIBLE_DEVICES in Config.Env both choose GPUs, and a container counts those that it is given from 0: keep one of the two"},
		{"an environment without names", launch.Config{Env: []string{"A=b", "sesame-open", "=sesame-open"}},
			"vllm: Config.Env must hold KEY=VALUE, Config.Env[1] does not\nvllm: Config.Env must hold KEY=VALUE, Config.Env[2] does not"},
		{"another kind's fields", launch.Config{AdminKey: "sesame-open", Threads: 1, Parallel: 1, ContextSize: 1, PromptCache: true},
			"vllm: Config.AdminKey means something to SGLang only: leave it out\n" +
				"vllm: Config.Threads means something to llama.cpp only: leave it out\n" +
				"vllm: Config.Parallel means something to llama.cpp only: leave it out\n" +
				"vllm: Config.ContextSize means something to llama.cpp only: leave it out\n" +
				"vllm: Config.PromptCache means something to llama.cpp only: leave it out"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.config.Model = "m"
			got := ""
			if _, err := testKind().resolve(t.Context(), test.config); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
