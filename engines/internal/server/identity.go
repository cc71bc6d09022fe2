package server

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/hardware"
	"github.com/openloop-go/openloop/engines/internal/process"
)

// Instance names the present start of a child; empty when attached.
func (s *Server) Instance() string {
	now := s.now.Load()
	if now.process == nil {
		return ""
	}
	return fmt.Sprintf("start %d, pid %d", now.number, now.process.Pid())
}

// Identity is what can be known without asking the server: for a child its
// command line and the settings in it, for both the model. The hardware is
// left to Hardware.
func (s *Server) Identity() engines.Identity {
	id := engines.Identity{
		Engine: s.kind.Name, Model: s.Client().Model(), Hardware: s.config.Hardware,
		Settings: map[string]string{},
	}
	if p := s.Process(); p != nil {
		id.Command = p.Command()
		id.Settings = s.kind.settings(s.config, os.Environ())
		id.Revision = id.Settings["revision"]
	}
	return id
}

// settings are those of the arguments, and as env.NAME those of the
// environment that the test sets or that concern this kind. No secrets.
func (k *Kind) settings(c Config, env []string) map[string]string {
	settings := Settings(slices.Concat(c.Flags, c.Args), k.Short)
	for i, pair := range append(env, c.Env...) {
		name, value, _ := strings.Cut(pair, "=")
		ours := i >= len(env) || strings.HasPrefix(name, k.Prefix)
		if ours && !process.SecretName(name) {
			settings["env."+name] = value
		}
	}
	return settings
}

// Hardware names what the server computes on, where that is known: from
// Config.Hardware, and for a child from this host. Devices is how many it
// uses; zero is all that it sees. An attached server may be anywhere, even
// behind a loopback address.
func (s *Server) Hardware(ctx context.Context, devices int) string {
	switch {
	case s.config.Hardware != "":
		return s.config.Hardware
	case s.Process() == nil:
		return ""
	}
	return hardware.Local(ctx, append(os.Environ(), s.config.Env...), devices)
}
