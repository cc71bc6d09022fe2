// Package doctor looks at a server that runs and says whether it can be
// measured: all that decides whether a measurement is true is tried on the
// live server, with a dozen small requests, and comes back as a list of
// findings with remedies.
//
// A fault makes measurements untrue: a stream that something on the way holds
// back, tokens that nobody counts, a flush that lies. A warning is a
// limitation: what was measured holds, and less can be said; or it says what
// does not hold, and by how much. What could not be found out is unknown, and
// never passes for good.
//
// Nothing on the server changes but its prefix cache.
package doctor

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

	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/openai"
)

// Config says which server to look at. Only URL is needed. The environment is
// left aside, but for OPENLOOP_LOCKS: tests that measure the server wait until
// it has been looked at.
type Config struct {
	// URL is the server's root, as in "http://127.0.0.1:8000".
	URL string
	// Model is the model to ask for. Empty takes the only one that is served.
	Model string
	// Kind is the kind of server that is expected: "vllm", "sglang",
	// "llamacpp", or "openai" for any other. Empty takes what is there; a
	// server of another kind is a fault.
	Kind string
	// APIKey is sent as a bearer token; empty sends none. It is in no finding.
	APIKey string
	// Chat asks /v1/chat/completions only. False asks /v1/completions, and
	// chat where there is no such route.
	Chat bool
	// KeepCache leaves the prefix cache as it is: the flush is not tried.
	KeepCache bool
	// Regardless looks at a server that is being measured, which disturbs the
	// measurement. False is an error then.
	Regardless bool

	// Header is added to every request. Values are treated as secrets.
	Header http.Header
	// TLS is the configuration for an https URL. Nil uses the host's roots.
	TLS *tls.Config
	// Proxy chooses a proxy for each request. Nil uses none, whatever the
	// environment says.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial opens connections, as to a server in memory. Nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Patience bounds each generation; other requests are given a third of
	// it. Zero is 30 s.
	Patience time.Duration
	// Found is called with each finding as it is made. Nil calls nothing.
	Found func(Finding)
}

// Plan says what an examination sends, for those who are about to make one.
const Plan = "about 15 generations of at most 256 tokens, one of up to 2,048 that is dropped after a few, and one flush of the prefix cache"

const defaultPatience = 30 * time.Second

// Kinds are the values of Config.Kind, in the order in which they are told.
func Kinds() []string { return []string{"vllm", "sglang", "llamacpp", "openai"} }

func (c *Config) resolve() error {
	var errs []error
	if c.URL == "" {
		errs = append(errs, errors.New("doctor: Config.URL must be the root of a server, as in http://127.0.0.1:8000, got nothing"))
	}
	if c.Kind != "" && !slices.Contains(Kinds(), c.Kind) {
		errs = append(errs, fmt.Errorf("doctor: Config.Kind must be one of %s, got %q", strings.Join(Kinds(), ", "), c.Kind))
	}
	if c.Patience < 0 {
		errs = append(errs, fmt.Errorf("doctor: Config.Patience must not be negative, got %v", c.Patience))
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	return errors.Join(errs...)
}

// Examine looks at a server. What is wrong there is in the report; err is for
// a configuration that cannot be used and for a server that is being measured
// (nothing was sent, and the report is nil), and for a context that ended (the
// report holds what was found until then).
func Examine(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.resolve(); err != nil {
		return nil, err
	}
	client, err := openai.New(cfg.client("", false))
	if err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	v := newVisit(server.LeaveEnvironment(ctx), cfg, client)
	defer v.close()
	if err := v.hold(); err != nil {
		return nil, err
	}
	for _, step := range []func() bool{
		v.reach, v.identify, v.firstGeneration, v.attach, v.version, v.routes,
		v.connections, v.idle, v.stream, v.arrivals, v.drop,
		v.cache, v.metrics, v.errors,
	} {
		if !step() {
			v.report.Stopped = true
			break
		}
		if ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil {
		v.report.Stopped = true
		return v.report, fmt.Errorf("doctor: %w", context.Cause(ctx))
	}
	v.failures()
	return v.report, nil
}

// client is the configuration of a client for a model.
func (c *Config) client(model string, chat bool) openai.Config {
	return openai.Config{
		URL: c.URL, Model: model, APIKey: c.APIKey, Chat: chat,
		Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Dial: c.Dial,
		Timeout: c.Patience / 3, Silence: c.Patience,
	}
}
