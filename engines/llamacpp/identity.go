package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/hardware"
	"github.com/openloop-go/openloop/engines/internal/server"
)

// props is what llama-server tells of itself; fields that it does not tell
// are zero.
type props struct {
	Build     string `json:"build_info"`
	Slots     int    `json:"total_slots"`
	ModelPath string `json:"model_path"`
	ModelType string `json:"model_ftype"`
	Defaults  struct {
		Context int `json:"n_ctx"`
	} `json:"default_generation_settings"`
}

func (e *Engine) props(ctx context.Context) (props, error) {
	var p props
	answer, err := e.s.Client().Do(ctx, http.MethodGet, "/props", nil)
	if err != nil {
		return p, err
	}
	if answer.Status == http.StatusOK && json.Unmarshal(answer.Body, &p) != nil {
		p = props{}
	}
	return p, nil
}

// Describe implements engines.Describer from /props: the version is llama.cpp's
// build, and among the settings are the number of slots, the context of each,
// the model's file and its quantization. Hardware of an attached server is not
// told by it: set Config.Hardware.
func (e *Engine) Describe(ctx context.Context) (engines.Identity, error) {
	id := e.s.Identity()
	p, err := e.props(ctx)
	if err != nil {
		return id, fmt.Errorf("describe llamacpp: %w", err)
	}
	id.Version = p.Build
	for name, value := range map[string]string{
		"total_slots": positive(p.Slots), "n_ctx_slot": positive(p.Defaults.Context),
		"model_path": p.ModelPath, "model_ftype": p.ModelType,
	} {
		if value != "" {
			id.Settings[name] = value
		}
	}
	id.Settings["prompt_cache"] = strconv.FormatBool(e.cached)
	id.Hardware = e.hardware(ctx, id.Settings)
	return id, nil
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// hardware names the devices that a server started here computes on, else the
// processor: a build without the host's GPU runs on the processor and says
// nothing, so the build itself is asked.
func (e *Engine) hardware(ctx context.Context, settings map[string]string) string {
	c := e.s.Config()
	if c.Hardware != "" || c.Launcher != nil || e.s.Process() == nil {
		return e.s.Hardware(ctx, 0)
	}
	if settings["gpu_layers"] == "0" || settings["device"] == "none" {
		return hardware.Host()
	}
	gpus, ok := listDevices(ctx, c, e.s.Environ())
	switch {
	case !ok:
		return e.s.Hardware(ctx, 0)
	case len(gpus) == 0:
		return hardware.Host()
	}
	return hardware.Name(gpus, 0)
}

// listDevices asks the program which devices it would use. False: it does not
// say.
func listDevices(ctx context.Context, c server.Config, env []string) ([]hardware.GPU, bool) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	command := c.Command
	if len(command) == 0 {
		command = kind.Program
	}
	command = append(slices.Clone(command), "--list-devices")
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = c.Dir, env
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	return parseDevices(string(out))
}

// device is a line such as "  CUDA0: NVIDIA H200 (143156 MiB, 142528 MiB free)".
var device = regexp.MustCompile(`^(\w+): (.+) \((\d+) MiB, \d+ MiB free\)$`)

// parseDevices reads the output of --list-devices; false where it is none, or
// one that is not understood. What has no memory of its own, as "BLAS: OpenBLAS
// (0 MiB, 0 MiB free)", is a library for the processor.
func parseDevices(text string) (gpus []hardware.GPU, ok bool) {
	_, list, _ := strings.Cut(text, "Available devices:\n")
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "(none)" {
			return nil, true
		}
		m := device.FindStringSubmatch(line)
		if m == nil {
			return nil, false
		}
		if m[3] != "0" {
			gpus = append(gpus, hardware.GPU{Index: m[1], Model: strings.TrimSpace(m[2])})
		}
		ok = true
	}
	return gpus, ok
}
