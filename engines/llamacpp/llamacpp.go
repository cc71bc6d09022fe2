// Package llamacpp starts llama.cpp's llama-server, or attaches to one, and
// measures it through its OpenAI-style routes.
//
// A server that it starts keeps no prompt cache, unless asked to, listens on
// 127.0.0.1 only, and never outlives the test binary. A server that it
// attaches to needs, to be measured well:
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
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/server"
)

// Config says which server to start, or where one runs. The zero value of
// every field but Model is usable; with a URL Model may be empty too.
type Config struct {
	// Model is the path of the .gguf file to serve, which is served under the
	// file's name without ".gguf". Attached, a model of that name must be
	// served there; empty takes the only model there is. OPENLOOP_MODEL
	// overrides it.
	Model string
	// URL attaches to a server instead of starting one. Empty looks at
	// OPENLOOP_LLAMACPP_URL and then at OPENLOOP_ENGINE_URL.
	URL string
	// APIKey is the server's key, set at the start or sent when attached.
	// Empty is OPENLOOP_API_KEY, and without that no key. It never reaches a
	// file, a log or an error.
	APIKey string

	// Threads is the number of threads that compute (--threads). Zero is the
	// server's own choice. Attached, it is not used, like the next two.
	Threads int
	// Parallel is the number of slots, which is how many requests are worked
	// on at once (--parallel); further ones wait. Zero is the server's own
	// choice.
	Parallel int
	// ContextSize is the context in tokens that the slots share (--ctx-size).
	// Zero is the server's own choice.
	ContextSize int
	// PromptCache lets requests take the beginning of their prompt from the
	// slots' caches, as llama.cpp does by itself, for points that are measured
	// warm or share prefixes. False has every prompt computed in full.
	PromptCache bool

	// Command is the program that is run as "COMMAND --model MODEL … ARGS".
	// Empty is "llama-server".
	Command []string
	// Args are further arguments of the server: "--batch-size", "512".
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
	// included. Zero is 10 minutes; in a test no more than its deadline
	// leaves.
	StartBudget time.Duration

	// Hardware names what the server computes on, as in "8 cores AMD EPYC
	// 9005" or "1x NVIDIA H200": it is part of a baseline's key. Empty finds it
	// out where that can be done.
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
	return &Engine{s, cfg.PromptCache}, nil
}

func (c Config) engine(s *server.Server) engines.Engine {
	e := Engine{s, c.PromptCache}
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
