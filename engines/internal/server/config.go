// Package server is what the engine packages share: whether to attach or to
// start, what counts as ready, how one kind of server is told from another,
// and how a server is started again.
package server

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/openai"
)

// Kind is one kind of server.
type Kind struct {
	// Name is its name in code and messages: "vllm".
	Name string
	// Variable is the environment variable with its URL, and URL reads it.
	Variable string
	URL      func(ci.Config) string
	// Program is the default of Config.Command for a process, and Inside the
	// arguments that come first in a container: those that make an image of
	// this kind serve. Nil where its entrypoint does so.
	Program, Inside []string
	// Install says how to get the program: "pip install vllm". Image is an
	// image for example.
	Install, Image string
	// Arguments are the command line after Program for a model, a key (which
	// may be empty) and a place to listen; Flags and Config.Args follow them.
	// Environment likewise precedes Config.Env.
	Arguments   func(model, key string, at launch.Place) []string
	Environment func(key string) []string
	// Flags are arguments that fields of the configuration stand for. Nil: no
	// field does.
	Flags func(launch.Config) []string
	// Extra are fields added to every generation, as openai.Config has them.
	// Nil adds none.
	Extra func(launch.Config) map[string]any
	// Own are the fields of the configuration that only this kind has a use
	// for, by their names, and Wrong finds what is wrong with them. Nil: none.
	Own   []string
	Wrong func(launch.Config) []error
	// Short spells out short flags: "tp" is "tensor-parallel-size".
	Short map[string]string
	// Prefix is that of the environment variables that concern this kind.
	Prefix string
	// Reserved are flags that Config.Args must not hold, with the reason.
	Reserved map[string]string
	// Alias is the name under which a model is served that was given in
	// another way, as by the path of its file. Nil: the name it was given by.
	Alias func(model string) string
	// Devices is how many devices a server uses, by the settings of its
	// arguments; zero, and nil, is all that it sees.
	Devices func(settings map[string]string) int
	// Without matches lines by which a server says that it goes on without
	// the GPU. Nil: this kind does not.
	Without *regexp.Regexp
}

// Config is a configuration with what the environment decided.
type Config struct {
	launch.Config
	// from is where URL was found, and longer how to get a longer budget.
	from, longer string
	// locks is the folder of locks; empty is the usual one.
	locks string
	// log is the test's and is told of waiting, and helper is its Helper; nil is
	// slog, and none.
	log    func(format string, args ...any)
	helper func()
}

// marks is Config.helper, or one that marks nothing.
func (c Config) marks() func() {
	if c.helper == nil {
		return func() {}
	}
	return c.helper
}

// aside marks a context.
type aside struct{}

// LeaveEnvironment is a context in which Attach leaves the environment aside,
// for those who look at the server that they were told of and at no other.
func LeaveEnvironment(ctx context.Context) context.Context {
	return context.WithValue(ctx, aside{}, true)
}

// resolve fills what the environment decides. A configuration with Dial is
// that of a server in memory, with which the environment has nothing to do.
func (k *Kind) resolve(ctx context.Context, given launch.Config) (Config, error) {
	c := Config{Config: given, from: "Config.URL", longer: "raise Config.StartBudget"}
	if c.Dial != nil || ctx.Value(aside{}) != nil {
		return c, k.validate(c)
	}
	env, err := ci.Load()
	if err != nil {
		return c, err
	}
	c.locks = env.Locks
	if c.URL == "" {
		c.URL, c.from = k.URL(env), k.Variable
	}
	if c.URL == "" {
		c.URL, c.from = env.EngineURL, "OPENLOOP_ENGINE_URL"
	}
	if env.Model != "" {
		c.Model = env.Model
	}
	if c.APIKey == "" {
		c.APIKey = env.APIKey
	}
	return c, k.validate(c)
}

// arguments is the command line after the program. What the user gives as an
// argument is not given a second time.
func (k *Kind) arguments(c Config, at launch.Place) []string {
	var line []string
	if c.Launcher != nil && len(c.Command) == 0 {
		line = slices.Clone(k.Inside)
	}
	for _, arg := range k.Arguments(c.Model, c.APIKey, at) {
		if !strings.HasPrefix(arg, "--") || !slices.Contains(c.Args, arg) {
			line = append(line, arg)
		}
	}
	return slices.Concat(line, k.flags(c), c.Args)
}

func (k *Kind) flags(c Config) []string {
	if k.Flags == nil {
		return nil
	}
	return k.Flags(c.Config)
}

// environment is what a server is given beside the environment that it
// inherits, if it does.
func (k *Kind) environment(c Config) []string {
	env := k.Environment(c.APIKey)
	if c.Launcher == nil && c.GPUs != "" && c.GPUs != allGPUs {
		env = append(env, visible+"="+c.GPUs)
	}
	return append(env, c.Env...)
}

const (
	// visible is the variable by which CUDA, and HIP after it, selects devices.
	visible = "CUDA_VISIBLE_DEVICES"
	allGPUs = "all"
)

// answerLimit bounds a request that is no generation. vLLM examines its host
// the first time that it is asked for /server_info, which takes long.
const answerLimit = time.Minute

// client is the streaming client for a URL and a model.
func (k *Kind) client(c Config, root, model string) (*openai.Engine, error) {
	return openai.New(openai.Config{
		URL: root, Model: model, APIKey: c.APIKey, Chat: c.Chat,
		Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Fresh: c.Fresh, HTTP2: c.HTTP2,
		Dial: c.Dial, Kind: k.Name,
		Extra: k.extra(c), Timeout: answerLimit,
	})
}

func (k *Kind) extra(c Config) map[string]any {
	if k.Extra == nil {
		return nil
	}
	return k.Extra(c.Config)
}
