package server

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines/launch"
)

// validate reports everything wrong at once.
func (k *Kind) validate(c Config) error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(k.Name+": "+format, args...))
	}
	if k.Wrong != nil {
		errs = append(errs, k.Wrong(c.Config)...)
	}
	for _, f := range owned {
		if f.set(c.Config) && !slices.Contains(k.Own, f.name) {
			add("Config.%s means something to %s only: leave it out", f.name, f.whose)
		}
	}
	if c.StartBudget < 0 {
		add("Config.StartBudget must not be negative, got %v", c.StartBudget)
	}
	if len(c.Command) > 0 && c.Command[0] == "" {
		add("Config.Command must begin with a program, got an empty word")
	}
	for i, pair := range c.Env {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
			add("Config.Env must hold KEY=VALUE, Config.Env[%d] does not", i) // it may be a secret
		}
	}
	for _, arg := range c.Args {
		flag, _, _ := strings.Cut(arg, "=")
		if why, reserved := k.Reserved[flag]; reserved {
			add("Config.Args must not hold %s: %s", flag, why)
		}
	}
	k.validateLauncher(c.Config, add)
	if c.URL == "" && c.Model == "" {
		add("Config.Model must name the model to serve, or %s or OPENLOOP_ENGINE_URL a server that runs", k.Variable)
	}
	if c.URL == "" && c.Dial != nil {
		add("Config.URL must be set where Config.Dial is")
	}
	return errors.Join(errs...)
}

// owned are the fields that only one kind has a use for.
var owned = []struct {
	name, whose string
	set         func(launch.Config) bool
}{
	{"AdminKey", "SGLang", func(c launch.Config) bool { return c.AdminKey != "" }},
	{"Threads", "llama.cpp", func(c launch.Config) bool { return c.Threads != 0 }},
	{"Parallel", "llama.cpp", func(c launch.Config) bool { return c.Parallel != 0 }},
	{"ContextSize", "llama.cpp", func(c launch.Config) bool { return c.ContextSize != 0 }},
	{"PromptCache", "llama.cpp", func(c launch.Config) bool { return c.PromptCache }},
}

// validateLauncher finds what means nothing to a process, and what means
// nothing to anything.
func (k *Kind) validateLauncher(c launch.Config, add func(string, ...any)) {
	const remedy = "set Config.Launcher (container.Launcher of engines/container), or leave it out"
	if c.Launcher == nil {
		if c.Image != "" {
			add("Config.Image %q is for a container, and without a launcher a process is started: %s", c.Image, remedy)
		}
		if len(c.Mounts) > 0 {
			add("Config.Mounts are for a container, and a process sees all files of this host: %s", remedy)
		}
		if c.ShmSize > 0 {
			add("Config.ShmSize is for a container, and a process has the shared memory of this host: %s", remedy)
		}
	}
	if c.ShmSize < 0 {
		add("Config.ShmSize must not be negative, got %d", c.ShmSize)
	}
	for _, m := range c.Mounts {
		if m.Source == "" || !path.IsAbs(m.Target) {
			add("Config.Mounts must have a source and an absolute target, got %q at %q", m.Source, m.Target)
		}
	}
	if c.GPUs == "" {
		return
	}
	for gpu := range strings.SplitSeq(c.GPUs, ",") {
		if gpu == "" || strings.ContainsAny(gpu, " =\"") || gpu == allGPUs && c.GPUs != allGPUs {
			add("Config.GPUs must be \"all\", or indices or UUIDs as in \"0,1\", got %q", c.GPUs)
			break
		}
	}
	if slices.ContainsFunc(c.Env, func(pair string) bool { return strings.HasPrefix(pair, visible+"=") }) {
		add("Config.GPUs and %s in Config.Env both choose GPUs, and a container counts those that it is given from 0: keep one of the two", visible)
	}
}
