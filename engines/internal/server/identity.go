package server

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/hardware"
	"github.com/openloop-go/openloop/internal/secret"
)

// Instance names the present start; empty when attached.
func (s *Server) Instance() string {
	now := s.now.Load()
	if now.process == nil {
		return ""
	}
	return fmt.Sprintf("start %d, %s", now.number, now.process.ID())
}

// Identity is what can be known without asking the server: for one that was
// started here its command line, the settings in it and what the launcher
// tells, for both the model. The hardware is left to Hardware.
func (s *Server) Identity() engines.Identity {
	id := engines.Identity{
		Engine: s.kind.Name, Model: s.Client().Model(), Hardware: s.config.Hardware,
		Settings: map[string]string{},
	}
	if p := s.Process(); p != nil {
		id.Command = p.Command()
		id.Settings = s.kind.settings(s.config, os.Environ())
		maps.Copy(id.Settings, s.claim.settings())
		maps.Copy(id.Settings, p.Settings())
		id.Revision = id.Settings["revision"]
	}
	if proxy, _ := s.Client().Proxy(); proxy != "" {
		id.Settings["proxy"] = proxy
	}
	return id
}

// settings are those of the arguments, and as env.NAME those of the
// environment that the test sets or that concern this kind, where it is
// inherited. No secrets.
func (k *Kind) settings(c Config, inherited []string) map[string]string {
	if c.Launcher != nil {
		inherited = nil
	}
	settings := Settings(slices.Concat(k.flags(c), c.Args), k.Short)
	for i, pair := range slices.Concat(inherited, c.Env) {
		name, value, _ := strings.Cut(pair, "=")
		ours := i >= len(inherited) || strings.HasPrefix(name, k.Prefix)
		if ours && !secret.Name(name) {
			settings["env."+name] = value
		}
	}
	for name, value := range settings {
		settings[name] = secret.Redact(value)
	}
	if c.GPUs != "" {
		settings["gpus"] = c.GPUs
	}
	return settings
}

// Hardware names what the server computes on, where that is known: from
// Config.Hardware, and for one that was started here from this host. Devices
// is how many it uses; zero is all that it sees. An attached server may be
// anywhere, even behind a loopback address.
func (s *Server) Hardware(ctx context.Context, devices int) string {
	p := s.Process()
	switch {
	case s.config.Hardware != "":
		return s.config.Hardware
	case p == nil || !p.Local():
		return ""
	case s.config.Launcher != nil && s.config.GPUs == "":
		return hardware.Host()
	}
	return hardware.Local(ctx, s.Environ(), devices)
}

// Environ is the environment of a server that was started here, so far as it
// decides which devices of this host the server sees.
func (s *Server) Environ() []string {
	c := s.config
	switch {
	case c.Launcher == nil:
		return append(os.Environ(), s.kind.environment(c)...)
	case c.GPUs != allGPUs:
		return []string{visible + "=" + c.GPUs}
	}
	return nil
}
