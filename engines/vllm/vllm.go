// Package vllm starts a vLLM server, or attaches to one, and measures it
// through its OpenAI-style routes.
//
// A server that it starts runs in development mode, so that the prefix cache
// can be flushed, listens on 127.0.0.1 only, and never outlives the test
// binary. A server that it attaches to needs, to be measured well:
//
//	VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-prompt-tokens-details
//
// Without development mode there is no flush, and coldness rests on prompts
// that were never sent before; without the flag, nobody can see whether it
// held.
package vllm

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
	// OPENLOOP_VLLM_URL and then at OPENLOOP_ENGINE_URL.
	URL string
	// APIKey is the server's key, set at the start or sent when attached.
	// Empty is OPENLOOP_API_KEY, and without that no key. It never reaches a
	// file, a log or an error.
	APIKey string

	// Command is the program that is run as "COMMAND MODEL --port … ARGS". Empty
	// is "vllm serve".
	Command []string
	// Args are further arguments of the server: "--max-num-seqs", "64".
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

// Engine is a vLLM server that was attached to. Besides engines.Engine it is a
// Flusher, Loader, Scraper and Describer.
type Engine struct{ s *server.Server }

// Server is a vLLM server that was started here: all that an Engine is, and a
// Restarter and Logger.
type Server struct{ Engine }

var kind = server.Kind{
	Name:     "vllm",
	Variable: "OPENLOOP_VLLM_URL",
	URL:      func(c ci.Config) string { return c.VLLMURL },
	Program:  []string{"vllm", "serve"},
	Install:  "install vLLM (pip install vllm)",
	Arguments: func(model string, port int, _ string) []string {
		return []string{model, "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--enable-prompt-tokens-details"}
	},
	Environment: func(key string) []string {
		env := []string{"VLLM_SERVER_DEV_MODE=1"}
		if key != "" { // not an argument, which every user of the host can read
			env = append(env, "VLLM_API_KEY="+key)
		}
		return env
	},
	Prefix: "VLLM_",
	Short: map[string]string{
		"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "dp": "data-parallel-size",
		"q": "quantization", "O": "optimization-level", "cc": "compilation-config", "ep": "enable-expert-parallel",
	},
	Reserved: map[string]string{
		"--port":    "every start gets a free one of its own",
		"--host":    "it is 127.0.0.1, where nobody else adds load",
		"--uds":     "the server is reached over TCP",
		"--api-key": "set Config.APIKey, which is kept out of command lines",
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
	return &Engine{s}, nil
}

func (c Config) engine(s *server.Server) engines.Engine {
	e := Engine{s}
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

// String says what the engine is, as in "vllm at http://127.0.0.1:8000".
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
