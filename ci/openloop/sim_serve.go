package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/openloop-go/openloop/engines/sim"
)

// standIn is what the servers that the engine stands for are told in another
// way than it is. With it a configuration of engines/vllm or engines/sglang
// starts the engine as it would start the server:
//
//	vllm.Config{Model: "m", Command: []string{"openloop", "sim"}}
//	vllm.Config{Model: "m", Image: "openloop-sim", Launcher: container.Launcher{}}
type standIn struct {
	host string
	port int
	path string // --model-path
}

// flags adds the servers' own flags to the engine's, which have the servers'
// names where they mean the same.
func (s *standIn) flags(flags *flag.FlagSet) {
	flags.StringVar(&s.host, "host", "", "the host of -addr, as the servers have it")
	flags.IntVar(&s.port, "port", 0, "the port of -addr, as the servers have it")
	flags.StringVar(&s.path, "model-path", "", "the `name` of the model, as SGLang has it")
	for _, name := range []string{"enable-prompt-tokens-details", "enable-metrics", "enable-cache-report"} {
		flags.Bool(name, true, "understood; the engine does so in any case")
	}
}

// parse parses flags with a model among them, as vLLM has it.
func (s *standIn) parse(flags *flag.FlagSet, args []string, cfg *sim.Config) error {
	var models []string
	for rest := args; ; {
		if err := flags.Parse(rest); err != nil {
			return err
		}
		if flags.NArg() == 0 {
			break
		}
		models, rest = append(models, flags.Arg(0)), flags.Args()[1:]
	}
	if s.path != "" {
		models = append(models, s.path)
	}
	switch len(models) {
	case 0:
	case 1:
		cfg.Model = models[0]
	default:
		return fmt.Errorf("want one model, got %q", models)
	}
	return s.environment(cfg)
}

// environment obeys vLLM's variables.
func (s *standIn) environment(cfg *sim.Config) error {
	if os.Getenv("VLLM_SERVER_DEV_MODE") == "1" {
		cfg.DevMode = true
	}
	if key := os.Getenv("VLLM_API_KEY"); key != "" && cfg.APIKey == "" {
		cfg.APIKey = key
	}
	if s.port < 0 || s.port > 65535 {
		return errors.New("-port must be from 0 to 65535")
	}
	return nil
}

// address is the one to listen on; given is -addr.
func (s *standIn) address(given string, flavor sim.Flavor) (string, error) {
	if given != "" {
		if s.host != "" || s.port != 0 {
			return "", errors.New("want -addr or -host and -port, not both")
		}
		return given, nil
	}
	host, port := s.host, s.port
	if host == "" {
		host = "127.0.0.1"
	}
	if port == 0 {
		port = 8000
		if flavor == sim.SGLang {
			port = 30000
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}
