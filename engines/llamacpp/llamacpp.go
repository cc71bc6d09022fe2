// Package llamacpp starts llama.cpp's llama-server, or attaches to one, and
// measures it through its OpenAI-style routes.
//
// A server that it starts, as a process or in a container, keeps no prompt
// cache, unless asked to, is reached on 127.0.0.1 only, and never outlives the
// test binary. A server that it attaches to needs, to be measured well:
//
//	llama-server --model MODEL.gguf --port 8080 --metrics --cache-ram 0
//
// Without --metrics its counters are unknown. Without --cache-ram 0 it moves
// prompts in and out of a cache in the host's memory even where no request
// reads them.
//
// llama.cpp has no flush of everything. So every request says that its prompt
// is not to be taken from a cache, and every reply says how many tokens were
// (timings.cache_n), which proves each request cold.
package llamacpp

import (
	"context"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/launch"
)

// Config says which server to start, or where one runs: the configuration that
// all engine packages share. Here Model is the path of the .gguf file, which is
// served under the file's name without ".gguf", Command is "llama-server" when
// it is empty and Launcher is nil, and Image may be
// ghcr.io/ggml-org/llama.cpp:server-cuda. Threads, Parallel, ContextSize and
// PromptCache are for this package; attached, only PromptCache is used.
type Config = launch.Config

// T is what Start needs of a *testing.T.
type T = launch.T

// Engine is a llama-server that was attached to. Besides engines.Engine it is
// a Flusher, Loader, Scraper and Describer.
type Engine struct {
	s *server.Server
	// cached is Config.PromptCache.
	cached bool
}

// Server is a llama-server that was started here: all that an Engine is, and a
// Restarter.
type Server struct{ Engine }

// Start starts a server for a test and stops it when the test ends, or
// attaches where there is a URL (Config.URL). The engine is a *Server or an
// *Engine accordingly. What goes wrong fails the test at once, in one sentence.
func Start(t T, cfg Config) engines.Engine {
	t.Helper()
	return engineOf(server.Start(t, &kind, cfg), cfg)
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
	return engineOf(s, cfg), s.Close, nil
}

// Attach attaches to a running server and starts none. One that is still
// loading is waited for; one of another kind, or without the model, is an
// error.
func Attach(ctx context.Context, cfg Config) (*Engine, error) {
	s, err := server.Attach(ctx, &kind, cfg)
	if err != nil {
		return nil, err
	}
	return &Engine{s, cfg.PromptCache}, nil
}

func engineOf(s *server.Server, cfg Config) engines.Engine {
	e := Engine{s, cfg.PromptCache}
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

// String says what the engine is, as in "llamacpp at http://127.0.0.1:8080".
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
