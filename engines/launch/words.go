package launch

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
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
	if u, err := url.Parse(c.URL); err != nil {
		say("at (not a URL)")
	} else if c.URL != "" {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		say("at %s", u)
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

// GoString is String, so that no verb of fmt prints a key.
func (c Config) GoString() string { return "launch.Config{" + c.String() + "}" }

// LogValue is String, for slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
