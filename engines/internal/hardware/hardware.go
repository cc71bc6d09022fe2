// Package hardware names what a server on this host computes on. The name is
// part of a baseline's key, so it says only what decides speed: how many of
// which device.
package hardware

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines/internal/gpu"
)

// Local names what a server started with env (KEY=VALUE, the last one wins)
// can compute on: the NVIDIA devices that CUDA_VISIBLE_DEVICES leaves, else
// the processor. Devices is how many of them the server uses; zero is all.
// Empty is unknown: there is an accelerator that cannot be named.
func Local(ctx context.Context, env []string, devices int) string {
	return Select(ctx, env, devices).Name()
}

// GPU is a device; what else than its index and its model is known depends on
// who lists it.
type GPU = gpu.Device

// Selection is what a server on this host computes on.
type Selection struct {
	// GPUs are the NVIDIA devices, in the server's order. None is the
	// processor, or where Others is true an accelerator that is not known here.
	GPUs   []GPU
	Others bool
}

// Select is what Local names.
func Select(ctx context.Context, env []string, devices int) Selection {
	var all []GPU
	reader, err := gpu.Host()
	if err == nil {
		all, err = reader.List(ctx)
	}
	if err != nil {
		return Selection{Others: otherAccelerator()}
	}
	chosen := Visible(all, lookup(env, "CUDA_VISIBLE_DEVICES"))
	if devices > 0 && devices < len(chosen) {
		chosen = chosen[:devices]
	}
	return Selection{GPUs: chosen}
}

// Name is "2x NVIDIA H200", or the processor; empty is unknown.
func (s Selection) Name() string {
	switch {
	case slices.ContainsFunc(s.GPUs, func(g GPU) bool { return g.Model == "" }), len(s.GPUs) == 0 && s.Others:
		return ""
	case len(s.GPUs) == 0:
		return Host()
	}
	return Name(s.GPUs, 0)
}

// Visible leaves those of gpus that CUDA_VISIBLE_DEVICES names, by index or
// by the beginning of the UUID, and parts of one (MIG), of which only the UUID
// is known; like CUDA, it stops at the first that does not
// exist. Nil is a variable that is not set and leaves all.
func Visible(gpus []GPU, variable *string) []GPU {
	if variable == nil {
		return gpus
	}
	var visible []GPU
	for want := range strings.SplitSeq(*variable, ",") {
		want = strings.TrimSpace(want)
		if strings.HasPrefix(want, "MIG-") {
			visible = append(visible, GPU{UUID: want})
			continue
		}
		i := slices.IndexFunc(gpus, func(g GPU) bool {
			return want != "" && (g.Index == want || strings.HasPrefix(want, "GPU-") && strings.HasPrefix(g.UUID, want))
		})
		if i < 0 {
			break
		}
		visible = append(visible, gpus[i])
	}
	return visible
}

// Name is "2x NVIDIA H200" for the first n of gpus; zero is all. Unlike
// devices are joined by " + ".
func Name(gpus []GPU, n int) string {
	if n > 0 && n < len(gpus) {
		gpus = gpus[:n]
	}
	var names []string
	for len(gpus) > 0 {
		same := 0
		var rest []GPU
		for _, g := range gpus {
			if g.Model == gpus[0].Model {
				same++
			} else {
				rest = append(rest, g)
			}
		}
		names = append(names, fmt.Sprintf("%dx %s", same, gpus[0].Model))
		gpus = rest
	}
	return strings.Join(names, " + ")
}

var listed = regexp.MustCompile(`(?m)^\s*GPU (\d+): (.*?)(?: \(UUID: (.*)\))?\s*$`)

// ParseLong reads lines such as "GPU 0: NVIDIA H200 (UUID: GPU-…)", as
// nvidia-smi -L prints them and environment reports repeat them.
func ParseLong(text string) []GPU {
	var gpus []GPU
	for _, m := range listed.FindAllStringSubmatch(text, -1) {
		gpus = append(gpus, GPU{Index: m[1], Model: m[2], UUID: m[3]})
	}
	return gpus
}

// otherAccelerator reports device files of accelerators that are not named
// here: AMD, Intel and Google ones, Ascend.
func otherAccelerator() bool {
	for _, pattern := range []string{"/dev/kfd", "/dev/accel*", "/dev/dri/renderD*", "/dev/davinci*"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// Host is "16 cores Intel(R) Xeon(R) …": the processor of this host, and the
// cores that this process may use, which its children inherit.
func Host() string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name := field(string(info), "model name"); name != "" {
			model = name
		}
	}
	return fmt.Sprintf("%d cores %s", runtime.NumCPU(), model)
}

// Processor is "8 cores …" from the text of lscpu; empty when it does not say.
func Processor(lscpu string) string {
	model, cores := field(lscpu, "model name"), field(lscpu, "cpu(s)")
	if model == "" || cores == "" {
		return ""
	}
	return cores + " cores " + model
}

// field is the value of the first "name: value" line, its spaces tidied.
func field(text, want string) string {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(name), want) {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}

func lookup(env []string, key string) *string {
	for _, pair := range slices.Backward(env) {
		if name, value, ok := strings.Cut(pair, "="); ok && name == key {
			return &value
		}
	}
	return nil
}
