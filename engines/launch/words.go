package launch

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/openloop-go/openloop/internal/secret"
)

// String is the configuration without its secrets: what to start, or where one
// runs. Arguments, environment and headers are counted, since they may hold some.
func (c Config) String() string {
	var words []string
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	model := c.Model
	if model == "" {
		model = "(the server's)"
	}
	say("model %s", model)
	if at, ok := secret.URL(c.URL); !ok {
		say("at (not a URL)")
	} else if c.URL != "" {
		say("at %s", at)
	}
	if c.Image != "" {
		say("image %s", c.Image)
	}
	if c.GPUs != "" {
		say("GPUs %s", c.GPUs)
	}
	for _, n := range []struct {
		what string
		n    int
	}{{"arguments", len(c.Args)}, {"variables", len(c.Env)}, {"headers", len(c.Header)}} {
		if n.n > 0 {
			say("%d %s", n.n, n.what)
		}
	}
	return strings.Join(words, ", ")
}

// Format is String for every verb of fmt, so that none prints a key. (fmt asks
// for it neither for %p, which is for pointers, nor where a configuration is an
// unexported field of what is printed.)
func (c Config) Format(to fmt.State, verb rune) {
	secret.Format(to, verb, c.String(), c.GoString())
}

// GoString is String, as %#v prints it.
func (c Config) GoString() string { return "launch.Config{" + c.String() + "}" }

// LogValue is String, for slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
