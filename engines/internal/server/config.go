// Package server is what the engine packages share: whether to attach or to
// start, what counts as ready, how one kind of server is told from another,
// and how a server is started again.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/internal/process"
	"github.com/openloop-go/openloop/engines/openai"
)

// Kind is one kind of server.
type Kind struct {
	// Name is its name in code and messages: "vllm".
	Name string
	// Variable is the environment variable with its URL, and URL reads it.
	Variable string
	URL      func(ci.Config) string
	// Program is the default of Config.Command.
	Program []string
	// Install says how to get the program: "pip install vllm".
	Install string
	// Arguments are the command line after Program for a model, a port and a
	// key (which may be empty); Config.Args follow them. Environment likewise
	// precedes Config.Env.
	Arguments   func(model string, port int, key string) []string
	Environment func(key string) []string
	// Short spells out short flags: "tp" is "tensor-parallel-size".
	Short map[string]string
	// Prefix is that of the environment variables that concern this kind.
	Prefix string
	// Reserved are flags that Config.Args must not hold, with the reason.
	Reserved map[string]string
	// Alias is the name under which a model is served that was given in
	// another way, as by the path of its file. Nil: the name it was given by.
	Alias func(model string) string
}

// Config is the part of an engine package's configuration that is alike in
// all of them; see there for what each field means.
type Config struct {
	Model       string
	URL         string
	APIKey      string
	Command     []string
	Args        []string
	Env         []string
	Dir         string
	LogFile     string
	StartBudget time.Duration
	Hardware    string
	Chat        bool
	Header      http.Header
	TLS         *tls.Config
	Proxy       func(*http.Request) (*url.URL, error)
	Dial        func(ctx context.Context, network, addr string) (net.Conn, error)

	// Flags are arguments that fields of the engine package's own stand for;
	// Args follow them.
	Flags []string
	// Extra are fields added to every generation, as openai.Config has them.
	Extra map[string]any
	// Wrong is what the engine package found wrong with fields of its own.
	Wrong []error

	// from is where URL was found, and longer how to get a longer budget.
	from, longer string
}

// resolve fills what the environment decides. A configuration with Dial is
// that of a server in memory, with which the environment has nothing to do.
func (k *Kind) resolve(c Config) (Config, error) {
	c.from, c.longer = "Config.URL", "raise Config.StartBudget"
	if c.Dial != nil {
		return c, k.validate(c)
	}
	env, err := ci.Load()
	if err != nil {
		return c, err
	}
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

// validate reports everything wrong at once.
func (k *Kind) validate(c Config) error {
	errs := slices.Clone(c.Wrong)
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(k.Name+": "+format, args...))
	}
	if c.StartBudget < 0 {
		add("Config.StartBudget must not be negative, got %v", c.StartBudget)
	}
	if len(c.Command) > 0 && c.Command[0] == "" {
		add("Config.Command must begin with a program, got an empty word")
	}
	for _, pair := range c.Env {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
			add("Config.Env must hold KEY=VALUE, got %q", name)
		}
	}
	for _, arg := range c.Args {
		flag, _, _ := strings.Cut(arg, "=")
		if why, reserved := k.Reserved[flag]; reserved {
			add("Config.Args must not hold %s: %s", flag, why)
		}
	}
	if c.URL == "" && c.Model == "" {
		add("Config.Model must name the model to serve, or %s or OPENLOOP_ENGINE_URL a server that runs", k.Variable)
	}
	if c.URL == "" && c.Dial != nil {
		add("Config.URL must be set where Config.Dial is")
	}
	return errors.Join(errs...)
}

// command is the whole command line for a port. What the user gives as an
// argument is not given a second time.
func (k *Kind) command(c Config, port int) []string {
	program := c.Command
	if len(program) == 0 {
		program = k.Program
	}
	line := slices.Clone(program)
	for _, arg := range k.Arguments(c.Model, port, c.APIKey) {
		if !strings.HasPrefix(arg, "--") || !slices.Contains(c.Args, arg) {
			line = append(line, arg)
		}
	}
	return slices.Concat(line, c.Flags, c.Args)
}

func (k *Kind) environment(c Config) []string {
	return append(k.Environment(c.APIKey), c.Env...)
}

// answerLimit bounds a request that is no generation. vLLM examines its host
// the first time that it is asked for /server_info, which takes long.
const answerLimit = time.Minute

// client is the streaming client for a URL and a model.
func (k *Kind) client(c Config, root, model string) (*openai.Engine, error) {
	return openai.New(openai.Config{
		URL: root, Model: model, APIKey: c.APIKey, Chat: c.Chat,
		Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Dial: c.Dial, Kind: k.Name,
		Extra: c.Extra, Timeout: answerLimit,
	})
}

// Settings turns arguments into names and values: "--max-num-seqs 64" is
// max_num_seqs: 64, "--enforce-eager" is enforce_eager: true. Short names are
// spelled out as in names; secrets are left out.
func Settings(args []string, names map[string]string) map[string]string {
	settings := map[string]string{}
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			continue
		}
		name, value, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !joined {
			var values []string
			for i+1 < len(args) && (!strings.HasPrefix(args[i+1], "-") || number(args[i+1])) {
				i++
				values = append(values, args[i])
			}
			value = strings.Join(values, " ")
			if len(values) == 0 {
				value = "true"
			}
		}
		if process.SecretName(name) {
			continue
		}
		if long, ok := names[name]; ok {
			name = long
		}
		settings[strings.ReplaceAll(name, "-", "_")] = value
	}
	return settings
}

// number tells the value -1 from a flag.
func number(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789.") == ""
}
