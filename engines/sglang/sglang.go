// Package sglang starts an SGLang server, or attaches to one, and measures it
// through its OpenAI-style routes.
//
// A server that it starts reports its metrics and the cached tokens of each
// request, listens on 127.0.0.1 only, and never outlives the test binary. A
// server that it attaches to needs, to be measured well:
//
//	python3 -m sglang.launch_server --model-path MODEL --enable-metrics --enable-cache-report
package sglang

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/server"
)

// Config says which server to start, or where one runs. The zero value of
// every field but Model is usable; with a URL Model may be empty too.
type Config struct {
	// Model is the model to serve: a repository's name or a folder. Attached,
	// it must be served there, under this name or from this root; empty takes
	// the only model there is. OPENLOOP_MODEL overrides it.
	Model string
	// URL attaches to a server instead of starting one. Empty looks at
	// OPENLOOP_SGLANG_URL and then at OPENLOOP_ENGINE_URL.
	URL string
	// APIKey is the server's key, set at the start or sent when attached.
	// Empty is OPENLOOP_API_KEY, and without that no key. It never reaches a
	// file, a log or an error.
	APIKey string

	// AdminKey is the key that an attached server wants for a flush
	// (--admin-api-key). Empty sends APIKey there too.
	AdminKey string

	// Command is the program that is run as "COMMAND --model-path MODEL …
	// ARGS". Empty is "python3 -m sglang.launch_server".
	Command []string
	// Args are further arguments of the server: "--max-running-requests", "64".
	Args []string
	// Env are KEY=VALUE pairs added to the test's environment:
	// "CUDA_VISIBLE_DEVICES=1". They win over those set here.
	Env []string
	// Dir is the server's working directory; empty is the test's.
	Dir string
	// LogFile receives the server's output, secrets removed. Empty is a file
	// in the folder for artifacts (OPENLOOP_ARTIFACTS), else a temporary one.
	LogFile string
	// StartBudget bounds the time from start to the first generation, loading
	// and compiling included. Zero is 10 minutes; in a test no more than its
	// deadline leaves.
	StartBudget time.Duration

	// Hardware names what the server computes on, as in "1x NVIDIA H200": it
	// is part of a baseline's key. Empty finds it out where that can be done.
	Hardware string
	// Chat asks /v1/chat/completions, with text prompts. False asks
	// /v1/completions, which also takes token ids.
	Chat bool

	// Header is added to every request, as a gateway may need it. Values are
	// treated as secrets.
	Header http.Header
	// TLS is the configuration for an https URL. Nil uses the host's roots.
	TLS *tls.Config
	// Proxy chooses a proxy for each request. Nil uses none, whatever the
	// environment says.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial opens connections, as to a server in memory; it needs a URL, and
	// the environment is then left aside. Nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// T is what Start needs of a *testing.T.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Cleanup(func())
	Context() context.Context
}

// Engine is an SGLang server that was attached to. Besides engines.Engine it
// is a Flusher, Loader, Scraper and Describer.
type Engine struct {
	s     *server.Server
	admin string
}

// Server is an SGLang server that was started here: all that an Engine is, and
// a Restarter.
type Server struct{ Engine }

var kind = server.Kind{
	Name:     "sglang",
	Variable: "OPENLOOP_SGLANG_URL",
	URL:      func(c ci.Config) string { return c.SGLangURL },
	Program:  []string{"python3", "-m", "sglang.launch_server"},
	Install:  `install SGLang (pip install "sglang[all]")`,
	Arguments: func(model string, port int, key string) []string {
		args := []string{
			"--model-path", model, "--host", "127.0.0.1", "--port", strconv.Itoa(port),
			"--enable-metrics", "--enable-cache-report",
		}
		if key != "" {
			args = append(args, "--api-key", key)
		}
		return args
	},
	Environment: func(string) []string { return nil },
	Prefix:      "SGLANG_",
	Short:       map[string]string{"tp": "tp-size", "pp": "pp-size", "dp": "dp-size", "ep": "ep-size"},
	Reserved: map[string]string{
		"--port":          "every start gets a free one of its own",
		"--host":          "it is 127.0.0.1, where nobody else adds load",
		"--model-path":    "set Config.Model",
		"--model":         "set Config.Model",
		"--api-key":       "set Config.APIKey",
		"--admin-api-key": "a server started here needs none",
	},
}

// Start starts a server for a test and stops it when the test ends, or
// attaches where there is a URL (Config.URL). The engine is a *Server or an
// *Engine accordingly. What goes wrong fails the test at once, in one sentence.
func Start(t T, cfg Config) engines.Engine {
	t.Helper()
	return cfg.engine(server.Start(t, &kind, cfg.common()))
}

// Launch is Start without a test: the caller stops the engine. stop ends a
// server started here and everything that it started, and leaves one that was
// attached to alone; its error says that the server had died before, or that
// something of it could not be ended.
func Launch(ctx context.Context, cfg Config) (engine engines.Engine, stop func(context.Context) error, err error) {
	s, err := server.Launch(ctx, &kind, cfg.common())
	if err != nil {
		return nil, nil, err
	}
	return cfg.engine(s), s.Close, nil
}

// Attach attaches to a running server and starts none. One that is still
// loading is waited for; one of another kind, or without the model, is an
// error.
func Attach(ctx context.Context, cfg Config) (*Engine, error) {
	s, err := server.Attach(ctx, &kind, cfg.common())
	if err != nil {
		return nil, err
	}
	return &Engine{s, cfg.AdminKey}, nil
}

func (c Config) engine(s *server.Server) engines.Engine {
	e := Engine{s, c.AdminKey}
	if s.Process() != nil {
		return &Server{e}
	}
	return &e
}

func (c Config) common() server.Config {
	return server.Config{
		Model: c.Model, URL: c.URL, APIKey: c.APIKey,
		Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Dir, LogFile: c.LogFile,
		StartBudget: c.StartBudget, Hardware: c.Hardware, Chat: c.Chat,
		Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Dial: c.Dial,
	}
}

// Generate implements engines.Engine.
func (e *Engine) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	return e.s.Generate(ctx, r, emit)
}

// URL is the server's root; another one after each restart.
func (e *Engine) URL() string { return e.s.Client().URL() }

// String says what the engine is, as in "sglang at http://127.0.0.1:30000".
func (e *Engine) String() string { return kind.Name + " at " + e.URL() }

// Close closes the connections to the server that are idle, and no server.
func (e *Engine) Close(context.Context) error { return e.s.Client().Close() }

// Restart implements engines.Restarter.
func (s *Server) Restart(ctx context.Context) error { return s.s.Restart(ctx) }

// LogFile is the file with the server's output; another one after each
// restart.
func (s *Server) LogFile() string { return s.s.Process().Log().Path() }

// Close ends the server and everything that it started. The error says that
// it had died before, or that something of it could not be ended.
func (s *Server) Close(ctx context.Context) error { return s.s.Close(ctx) }
