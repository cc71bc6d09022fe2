package sglang

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/hardware"
	"github.com/openloop-go/openloop/engines/internal/server"
)

// Describe implements engines.Describer from /server_info, whose body is all
// of the server's arguments; of these only the ones that decide performance
// are kept, so that its keys are not. The hardware of an attached server is told
// by /v1/loads since 2026; that of an older one is in Config.Hardware or nowhere.
func (e *Engine) Describe(ctx context.Context) (engines.Identity, error) {
	id := e.s.Identity()
	info, err := e.info(ctx)
	if err != nil {
		return id, fmt.Errorf("describe sglang: %w", err)
	}
	id.Version, _ = info["version"].(string)
	for name, value := range settings(info) {
		id.Settings[name] = value
	}
	if id.Revision == "" {
		id.Revision = id.Settings["revision"]
	}
	id.Hardware = e.hardware(ctx, id.Settings)
	return id, nil
}

// hardware names the devices used. A server that computes on the processor does
// so even where there is a GPU.
func (e *Engine) hardware(ctx context.Context, settings map[string]string) string {
	p := e.s.Process()
	if e.s.Config().Hardware == "" && settings["device"] == "cpu" && p != nil && p.Local() {
		return hardware.Host()
	}
	if name := e.s.Hardware(ctx, devicesUsed(settings)); name != "" || settings["device"] == "cpu" {
		return name
	}
	return e.accelerators(ctx, settings)
}

// accelerators names the devices that an attached server says it computes on: so
// many as its parallel sizes come to. Where it does not tell these, so many of a
// kind for each data-parallel rank that has told its load; one that has not, as a
// rank may, is missed.
func (e *Engine) accelerators(ctx context.Context, settings map[string]string) string {
	answer, err := e.s.Client().Do(ctx, "GET", "/v1/loads", nil)
	if err != nil {
		return ""
	}
	var body struct {
		Accelerator string
		Each        int `json:"num_accelerators"`
		Loads       []struct{}
	}
	if answer.Status != 200 || json.Unmarshal(answer.Body, &body) != nil || body.Accelerator == "" {
		return ""
	}
	n := body.Each * len(body.Loads)
	if settings["tp_size"] != "" {
		n = devicesUsed(settings)
	}
	if n < 1 {
		return ""
	}
	return fmt.Sprintf("%dx %s", n, body.Accelerator)
}

// info is the server's account of itself; nil where it gives none.
func (e *Engine) info(ctx context.Context) (map[string]any, error) {
	for _, path := range []string{"/server_info", "/get_server_info"} { // the second one before 2026
		answer, err := e.s.Client().Do(ctx, "GET", path, nil)
		if err != nil {
			return nil, err
		}
		if object, ok := server.Object(answer); ok {
			return object, nil
		}
	}
	return nil, nil
}

// recorded are the arguments that decide performance.
var recorded = []string{
	"dtype", "quantization", "kv_cache_dtype", "revision", "context_length", "load_format", "device",
	"tp_size", "pp_size", "dp_size", "ep_size", "mem_fraction_static", "max_running_requests",
	"max_total_tokens", "max_total_num_tokens", "chunked_prefill_size", "max_prefill_tokens",
	"schedule_policy", "schedule_conservativeness", "page_size", "stream_interval",
	"attention_backend", "sampling_backend", "disable_radix_cache", "disable_cuda_graph", "cuda_graph_max_bs",
	"disable_overlap_schedule", "enable_torch_compile", "enable_dp_attention", "speculative_algorithm", "speculative_num_steps",
}

func settings(info map[string]any) map[string]string {
	kept := map[string]string{}
	for _, name := range recorded {
		switch value := info[name].(type) {
		case string:
			if value != "" {
				kept[name] = value
			}
		case bool:
			kept[name] = strconv.FormatBool(value)
		case float64:
			kept[name] = strconv.FormatFloat(value, 'f', -1, 64)
		}
	}
	return kept
}

// devicesUsed is how many devices the parallel sizes come to. With
// data-parallel attention the ranks share the devices of tensor parallelism.
func devicesUsed(settings map[string]string) int {
	n, sizes := 1, []string{"tp_size", "pp_size", "dp_size"}
	if settings["enable_dp_attention"] == "true" {
		sizes = sizes[:2]
	}
	for _, name := range sizes {
		if size, err := strconv.Atoi(settings[name]); err == nil && size > 0 {
			n *= size
		}
	}
	return n
}
