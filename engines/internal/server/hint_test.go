package server

import (
	"errors"
	"testing"

	"github.com/openloop-go/openloop/engines/launch"
)

// The lines are those of vLLM, SGLang, llama.cpp and what they stand on.
func TestWhatToDoAboutWhatServersSay(t *testing.T) {
	const (
		process = iota
		box
		gpuBox
	)
	gpu := map[int]string{
		process: "no usable GPU: run where there is one, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs",
		box:     `no usable GPU: give the container one with Config.GPUs ("all") on a host that has one, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs`,
		gpuBox:  "no usable GPU: run where there is one, with the NVIDIA container toolkit installed, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs",
	}
	const (
		memory = "not enough memory: stop what else uses the device, or give the server less to hold in Config.Args"
		host   = "not enough memory of the host, or of what a container may have of it: free some, or give the server less to hold in Config.Args"
	)
	for _, test := range []struct {
		line  string
		where int
		want  string
	}{
		{"RuntimeError: Failed to infer device type, please set the environment variable", process, gpu[process]},
		{"RuntimeError: Failed to infer device type", box, gpu[box]},
		{"RuntimeError: No accelerator (CUDA, XPU, HPU, NPU, MUSA, MPS) or platform plugin is available.", gpuBox, gpu[gpuBox]},
		{"RuntimeError: No CUDA GPUs are available", process, gpu[process]},
		{"RuntimeError: No HIP GPUs are available", process, gpu[process]},
		{"RuntimeError: Found no NVIDIA driver on your system.", process, gpu[process]},
		{"llama_prepare_model_devices: invalid value for main_gpu: 0 (available devices: 0)", process, gpu[process]},
		{"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 616.00 MiB.", process, memory},
		{"ValueError: Free memory on device cuda:0 (3.1/139.8 GiB) on startup is less than desired", process, memory},
		{"ValueError: Available memory on node 0 (19.71/23.54 GiB) on kv cache allocation is less than requested memory for kv (100000.0 GiB).", process, memory},
		{"ggml_backend_cuda_buffer_type_alloc_buffer: cudaMalloc failed: out of memory", process, memory},
		{"start vllm: container exited with code 137 (out of memory) after 3s", box, host},
		{"start vllm: killed by signal 9 (often the kernel, out of memory) after 3s", process, host},
		{"Invalid repository ID or local directory specified: '/model'.", process, "the model was not found: check Config.Model (a repository's name or a folder)"},
		{"OSError: Incorrect path_or_model_id: '/data/m'.", box, "the model was not found: check Config.Model (a repository's name or a folder as the container sees it: mount it with Config.Mounts)"},
		{"gguf_init_from_file: failed to open GGUF file '/m.gguf' (No such file or directory)", process, "the model is no file that llama.cpp can read: check Config.Model (the path of a .gguf file)"},
		{"OSError: We couldn't connect to 'https://huggingface.co' to load the files", box, "the model is not on this machine and its repository cannot be reached: download it beforehand and mount it with Config.Mounts"},
		{"OSError: You are trying to access a gated repo.", box, "the model needs a licence accepted: set HF_TOKEN in Config.Env to a token that may read it"},
		{"start vllm: http://127.0.0.1:1: GET /v1/models: the server speaks TLS: use https:// in the URL", process,
			"it was told to speak TLS: leave that out of Config.Args (--ssl-keyfile, --ssl-certfile), since it is asked on this host alone"},
		{"Loading safetensors checkpoint shards: 50% Completed", process, ""},
	} {
		c := Config{}
		if test.where != process {
			c.Launcher = nothing{}
		}
		if test.where == gpuBox {
			c.GPUs = "all"
		}
		failure := errors.New("start vllm: exited with code 1 after 3s, log in LOG; its last lines:\n    " + test.line)
		want := failure.Error()
		if test.want != "" {
			want += "\n" + test.want
		}
		if got := testKind().advise(c, &diagnosis{}, failure).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The line that tells most is quoted where the log's end does not show it.
func TestTheCauseIsQuotedFromFurtherUp(t *testing.T) {
	var d diagnosis
	for _, line := range []string{
		"INFO loading", "WARNING torch.OutOfMemoryError: CUDA out of memory", "  RuntimeError: Failed to infer device type", "Failed to infer device type, again",
		"RuntimeError: Engine core initialization failed. See root cause above.",
	} {
		d.read(line)
	}
	got := testKind().advise(Config{Config: launch.Config{}}, &d, errors.New("start vllm: exited with code 1")).Error()
	const want = "start vllm: exited with code 1\nfurther up in it: RuntimeError: Failed to infer device type\n" +
		"no usable GPU: run where there is one, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The lines are those of vLLM and SGLang at work.
func TestDyingWords(t *testing.T) {
	for line, want := range map[string]bool{
		"ERROR 10-23 18:21:12 [core_client.py:597] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.":      true,
		"(EngineCore pid=9) ERROR [core.py:710] EngineCore encountered a fatal error.":                                            true,
		"vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.": true,
		"[2026-03-29 18:56:25 TP0] Scheduler hit an exception: Traceback (most recent call last):":                                true,
		"[2026-03-29 18:56:25] Received sigquit from a child process. It usually means the child failed.":                         true,
		`INFO 127.0.0.1:57122 - "POST /v1/completions HTTP/1.1" 200 OK`:                                                           false,
		"WARNING the engine core is slow": false,
	} {
		if got := dyingWords.MatchString(line); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}

func TestLastWords(t *testing.T) {
	for line, want := range map[string]bool{
		"(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause above.": true,
		"[2026-03-29 18:56:25 TP0] Scheduler hit an exception: Traceback (most recent call last):": true,
		"srv  llama_server: exiting due to model loading error":                                    true,
		"WARNING CUDA out of memory, retrying with a smaller batch":                                false,
		"INFO Application startup complete.":                                                       false,
	} {
		if got := lastWords.MatchString(line); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}
