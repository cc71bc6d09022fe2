package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/internal/secret"
)

// own are the fields that the client sets itself.
var own = []string{
	"model", "prompt", "messages", "n", "stream", "stream_options", "max_tokens", "max_completion_tokens",
	"min_tokens", "ignore_eos", "temperature", "cache_salt", "return_token_ids",
}

// validate returns everything that is wrong with the configuration.
func (c *Config) validate() error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf("openai: "+format, args...)) }

	switch u, err := url.Parse(c.URL); {
	case c.URL == "":
		bad("Config.URL is missing: set the server's root, as in http://127.0.0.1:8000")
	case err != nil:
		// The error of url.Parse quotes the URL, password and all.
		if strings.Contains(c.URL, "@") {
			bad("Config.URL cannot be parsed: it must be http://HOST:PORT or https://HOST")
		} else {
			bad("Config.URL must be http://HOST:PORT or https://HOST, got %q", c.URL)
		}
	case (u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") && (u.Host == "" && strings.Contains(c.URL, "@") || strings.ContainsAny(c.URL, "?#")):
		bad("Config.URL must be http://HOST:PORT or https://HOST; it is not shown, as it may hold a secret")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		bad("Config.URL must be http://HOST:PORT or https://HOST, got %q", u.Redacted())
	case len(u.Port()) > 5 || len(u.Port()) == 5 && u.Port() > "65535":
		bad("Config.URL must have a port up to 65535, got %s", u.Port())
	case u.RawQuery != "" || u.Fragment != "":
		u.RawQuery, u.Fragment = "", ""
		bad("Config.URL must end with its path, without query or fragment: use %q and Config.Header", u.Redacted())
	}
	if strings.ContainsAny(c.APIKey, "\r\n") {
		bad("Config.APIKey holds a line end: trim it")
	}
	for name, values := range c.Header {
		if name == "" || strings.ContainsAny(name, " \r\n:") || slices.ContainsFunc(values, func(v string) bool {
			return strings.ContainsAny(v, "\r\n")
		}) {
			bad("Config.Header %q is no valid header", name)
		}
	}
	for name := range c.Extra {
		if slices.Contains(own, name) {
			bad("Config.Extra must not set %q: the client sets it from the request", name)
		}
	}
	if _, err := json.Marshal(c.Extra); err != nil {
		bad("Config.Extra is not JSON: %w", err)
	}
	for _, name := range c.Omit {
		if !slices.ContainsFunc(optional, func(o option) bool { return o.name == name }) {
			bad("Config.Omit must name optional fields (%s), got %q", optionNames(), name)
		}
	}
	if c.Silence < 0 {
		bad("Config.Silence must not be negative, got %v", c.Silence)
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

// String is the configuration without its secrets: kind, URL, route, model.
func (c Config) String() string {
	kind, route, model := c.Kind, "/v1/completions", c.Model
	if kind == "" {
		kind = "openai"
	}
	if c.Chat {
		route = "/v1/chat/completions"
	}
	if model == "" {
		model = "(the server's)"
	}
	at := "(not a URL)"
	if shown, ok := secret.URL(c.URL); ok {
		at = shown
	}
	return fmt.Sprintf("%s at %s, %s, model %s", kind, at, route, model)
}

// Format is String for every verb of fmt, so that none prints the key. (fmt asks
// for it neither for %p, which is for pointers, nor where a configuration is an
// unexported field of what is printed.)
func (c Config) Format(to fmt.State, verb rune) {
	secret.Format(to, verb, c.String(), c.GoString())
}

// GoString is String, as %#v prints it.
func (c Config) GoString() string { return "openai.Config{" + c.String() + "}" }

// LogValue is String, for slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
