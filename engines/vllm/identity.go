package vllm

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/hardware"
	"github.com/openloop-go/openloop/engines/internal/server"
)

// Describe implements engines.Describer: the version from /version, settings
// from the command line of a server started here, from the labels of
// vllm:cache_config_info, and in development mode, which wins, from
// /server_info. What the server does not tell stays empty.
func (e *Engine) Describe(ctx context.Context) (engines.Identity, error) {
	id := e.s.Identity()
	client := e.s.Client()
	answer, err := client.Do(ctx, "GET", "/version", nil)
	if err != nil {
		return id, fmt.Errorf("describe vllm: %w", err)
	}
	if object, ok := server.Object(answer); ok {
		id.Version, _ = object["version"].(string)
	}
	page, err := e.s.Metrics(ctx)
	if err != nil {
		return id, fmt.Errorf("describe vllm: %w", err)
	}
	maps.Copy(id.Settings, cacheConfig(page.Labels("vllm:cache_config_info")))
	var env systemEnv
	if answer, err = client.Do(ctx, "GET", "/server_info?config_format=json", nil); err != nil {
		return id, fmt.Errorf("describe vllm: %w", err)
	}
	// Anything but an object is a server that is not in development mode.
	if object, ok := server.Object(answer); ok {
		maps.Copy(id.Settings, configSettings(object["vllm_config"]))
		env = readSystemEnv(object["system_env"])
		maps.Copy(id.Settings, processorSettings(id.Settings["device"], object["vllm_env"]))
	}
	if id.Revision == "" {
		id.Revision = id.Settings["revision"]
	}
	id.Hardware = e.hardware(ctx, id.Settings, env)
	if env.driver != "" && id.Settings["device"] != "cpu" {
		id.Settings["driver"] = env.driver
	}
	return id, nil
}

// recorded are the settings of vLLM's configuration that decide performance,
// by the names that its configuration classes give them.
var recorded = map[string]bool{
	"dtype": true, "quantization": true, "revision": true, "max_model_len": true, "enforce_eager": true,
	"tensor_parallel_size": true, "pipeline_parallel_size": true, "data_parallel_size": true,
	"enable_expert_parallel": true, "load_format": true, "device": true,
	"max_num_seqs": true, "max_num_batched_tokens": true, "enable_chunked_prefill": true,
	"async_scheduling": true, "stream_interval": true, "policy": true,
	"block_size": true, "cache_dtype": true, "enable_prefix_caching": true, "gpu_memory_utilization": true,
	"cpu_offload_gb": true, "num_gpu_blocks": true, "kv_connector": true, "num_speculative_tokens": true,
}

// cacheConfig reads the labels of vllm:cache_config_info, one series for each
// engine; where engines differ the last one stands.
func cacheConfig(series []map[string]string) map[string]string {
	settings := map[string]string{}
	for _, labels := range series {
		for name, value := range labels {
			if recorded[name] && value != "" && value != "None" {
				settings[name] = value
			}
		}
	}
	return settings
}

// inText finds a setting in the text that a configuration was before v0.10.
var inText = regexp.MustCompile(`\b([a-z_]+)=('[^']*'|[^\s,()]+)`)

// configSettings reads the configuration of /server_info, which is an object
// of objects, or one long text. Of several settings of one name the outermost
// stands (the scheduler's policy, not the expert balancer's within), and of
// those the first in alphabetical order, so that it is always the same one.
func configSettings(config any) map[string]string {
	settings := map[string]string{}
	add := func(name, value string) {
		if _, there := settings[name]; !there && recorded[name] && value != "" && value != "None" {
			settings[name] = value
		}
	}
	if text, ok := config.(string); ok {
		for _, m := range inText.FindAllStringSubmatch(text, -1) {
			add(m[1], strings.Trim(m[2], "'"))
		}
	}
	level, _ := config.(map[string]any)
	for nodes := []map[string]any{level}; len(nodes) > 0; {
		var below []map[string]any
		for _, node := range nodes {
			for _, name := range slices.Sorted(maps.Keys(node)) {
				switch value := node[name].(type) {
				case map[string]any:
					below = append(below, value)
				case string, bool, float64:
					add(name, scalar(value))
				}
			}
		}
		nodes = below
	}
	return settings
}

// onProcessor are the variables of the environment that decide the performance
// of a server that computes on the processor.
var onProcessor = []string{"VLLM_CPU_KVCACHE_SPACE", "VLLM_CPU_OMP_THREADS_BIND", "VLLM_CPU_NUM_OF_RESERVED_CPU"}

// processorSettings reads them from the account of the environment in
// /server_info, under the names that a server started here has them by.
func processorSettings(device string, env any) map[string]string {
	settings := map[string]string{}
	object, _ := env.(map[string]any)
	for _, name := range onProcessor {
		switch value := object[name].(type) {
		case string, bool, float64:
			if device == "cpu" {
				settings["env."+name] = scalar(value)
			}
		}
	}
	return settings
}

func scalar(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// devicesUsed is how many devices the parallel sizes come to.
func devicesUsed(settings map[string]string) int {
	n := 1
	for _, name := range []string{"tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"} {
		if size, err := strconv.Atoi(settings[name]); err == nil && size > 0 {
			n *= size
		}
	}
	return n
}

// systemEnv is what is read of /server_info's account of the host.
type systemEnv struct{ gpus, other, cpu, driver string }

func readSystemEnv(v any) systemEnv {
	object, _ := v.(map[string]any)
	text := func(name string) string {
		switch s := fmt.Sprint(object[name]); s {
		case "<nil>", "N/A", "Could not collect", "False", "false":
			return ""
		default:
			return s
		}
	}
	return systemEnv{
		gpus: text("nvidia_gpu_models"), driver: text("nvidia_driver_version"), cpu: text("cpu_info"),
		other: text("is_cuda_available") + text("xpu_available") + text("hip_runtime_version"),
	}
}

// hardware names the devices used: from Config.Hardware, from this host, from
// what the server says of its own. One that computes on the processor does so
// even where there is a GPU.
func (e *Engine) hardware(ctx context.Context, settings map[string]string, env systemEnv) string {
	p, devices := e.s.Process(), devicesUsed(settings)
	switch {
	case e.s.Config().Hardware != "":
		return e.s.Config().Hardware
	case settings["device"] != "cpu":
		if name := e.s.Hardware(ctx, devices); name != "" {
			return name
		}
		return env.hardware(devices)
	case p != nil && p.Local():
		return hardware.Host()
	}
	return hardware.Processor(env.cpu)
}

// hardware names the devices used, or the processor of a host without any;
// empty when the host has devices that are not named.
func (env systemEnv) hardware(devices int) string {
	if gpus := hardware.ParseLong(env.gpus); len(gpus) > 0 {
		return hardware.Name(gpus, devices)
	}
	if env.gpus+env.other != "" {
		return ""
	}
	return hardware.Processor(env.cpu)
}
