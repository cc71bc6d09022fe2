// Package vllm starts a vLLM server, or attaches to one, and measures it
// through its OpenAI-style routes.
//
// A server that it starts, as a process or in a container, runs in development
// mode, so that the prefix cache can be flushed, is reached on 127.0.0.1 only,
// and never outlives the test binary. A server that it attaches to needs, to be measured well:
//
//	VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-prompt-tokens-details
//
// Without development mode there is no flush, and coldness rests on prompts
// that were never sent before; without the flag, nobody can see whether it
// held.
package vllm

import (
	"context"
	"strconv"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/launch"
)

// Config says which server to start, or where one runs: the configuration that
// all engine packages share. Here Command is "vllm serve" when it is empty and
// Launcher is nil, and Image may be vllm/vllm-openai:VERSION.
type Config = launch.Config

// T is what Start needs of a *testing.T.
type T = launch.T

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
	Image:    "vllm/vllm-openai:v0.26.0",
	Arguments: func(model, _ string, at launch.Place) []string {
		return []string{model, "--host", at.Host, "--port", strconv.Itoa(at.Port), "--enable-prompt-tokens-details"}
	},
	Environment: func(key string) []string {
		env := []string{"VLLM_SERVER_DEV_MODE=1"}
		if key != "" { // not an argument, which every user of the host can read
			env = append(env, "VLLM_API_KEY="+key)
		}
		return env
	},
	Prefix:  "VLLM_",
	Devices: devicesUsed,
	Short: map[string]string{
		"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "dp": "data-parallel-size",
		"q": "quantization", "O": "optimization-level", "cc": "compilation-config", "ep": "enable-expert-parallel",
	},
	Reserved: map[string]string{
		"--port":    "every start gets a free one of its own",
		"--host":    "it is one where nobody else adds load",
		"--uds":     "the server is reached over TCP",
		"--api-key": "set Config.APIKey, which is kept out of command lines",
	},
}

// Start starts a server for a test and stops it when the test ends, or
// attaches where there is a URL (Config.URL). The engine is a *Server or an
// *Engine accordingly. What goes wrong fails the test at once, in one sentence.
func Start(t T, cfg Config) engines.Engine {
	t.Helper()
	return engineOf(server.Start(t, &kind, cfg))
}

// Launch is Start without a test: the caller stops the engine. stop ends a
// server started here and everything that it started, and leaves one that was
// attached to alone; its error says that the server had died before, or that
// something of it could not be ended.
func Launch(ctx context.Context, cfg Config) (engine engines.Engine, stop func(context.Context) error, err error) {
	s, err := server.Launch(ctx, &kind, cfg)
	if err != nil {
		return nil, nil, err
	}
	return engineOf(s), s.Close, nil
}

// Attach attaches to a running server and starts none. One that is still
// loading is waited for; one of another kind, or without the model, is an
// error.
func Attach(ctx context.Context, cfg Config) (*Engine, error) {
	s, err := server.Attach(ctx, &kind, cfg)
	if err != nil {
		return nil, err
	}
	return &Engine{s}, nil
}

func engineOf(s *server.Server) engines.Engine {
	e := Engine{s}
	if s.Process() != nil {
		return &Server{e}
	}
	return &e
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
