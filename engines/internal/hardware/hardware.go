// Package hardware names what a server on this host computes on. The name is
// part of a baseline's key, so it says only what decides speed: how many of
// which device.
package hardware

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Local names what a server started with env (KEY=VALUE, the last one wins)
// can compute on: the NVIDIA devices that CUDA_VISIBLE_DEVICES leaves, else
// the processor. Devices is how many of them the server uses; zero is all.
// Empty is unknown: there is an accelerator that cannot be named.
func Local(ctx context.Context, env []string, devices int) string {
	if gpus, ok := nvidia(ctx); ok {
		if visible := Visible(gpus, lookup(env, "CUDA_VISIBLE_DEVICES")); len(visible) > 0 {
			return Name(visible, devices)
		}
	} else if otherAccelerator() {
		return ""
	}
	return Host()
}

// GPU is a device as nvidia-smi lists it.
type GPU struct{ Index, UUID, Model string }

func nvidia(ctx context.Context) ([]GPU, bool) {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--query-gpu=index,uuid,name", "--format=csv,noheader").Output()
	if err != nil {
		return nil, false
	}
	return ParseList(string(out)), true
}

// ParseList reads the output of nvidia-smi --query-gpu=index,uuid,name
// --format=csv,noheader.
func ParseList(csv string) []GPU {
	var gpus []GPU
	for line := range strings.Lines(csv) {
		fields := strings.SplitN(strings.TrimSpace(line), ", ", 3)
		if len(fields) == 3 {
			gpus = append(gpus, GPU{fields[0], fields[1], fields[2]})
		}
	}
	return gpus
}

// Visible leaves those of gpus that CUDA_VISIBLE_DEVICES names, by index or
// by the beginning of the UUID; like CUDA, it stops at the first that does not
// exist. Nil is a variable that is not set and leaves all.
func Visible(gpus []GPU, variable *string) []GPU {
	if variable == nil {
		return gpus
	}
	var visible []GPU
	for want := range strings.SplitSeq(*variable, ",") {
		want = strings.TrimSpace(want)
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
