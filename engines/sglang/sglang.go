// Package sglang starts an SGLang server, or attaches to one, and measures it
// through its OpenAI-style routes.
//
// A server that it starts, as a process or in a container, reports its metrics
// and the cached tokens of each request, is reached on 127.0.0.1 only, and
// never outlives the test binary. A server that it attaches to needs, to be measured well:
//
//	python3 -m sglang.launch_server --model-path MODEL --enable-metrics --enable-cache-report
package sglang

import (
	"context"
	"strconv"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/launch"
)

// Config says which server to start, or where one runs: the configuration that
// all engine packages share. Here Command is "python3 -m sglang.launch_server"
// when it is empty, in a container too, and Image may be
// lmsysorg/sglang:VERSION. AdminKey is for this package.
type Config = launch.Config

// T is what Start needs of a *testing.T.
type T = launch.T

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
	Inside:   []string{"python3", "-m", "sglang.launch_server"}, // the image's entrypoint runs what it is given
	Install:  `install SGLang (pip install "sglang[all]")`,
	Image:    "lmsysorg/sglang:v0.5.19",
	Own:      []string{"AdminKey"},
	Arguments: func(model, key string, at launch.Place) []string {
		args := []string{
			"--model-path", model, "--host", at.Host, "--port", strconv.Itoa(at.Port),
			"--enable-metrics", "--enable-cache-report",
		}
		if key != "" {
			args = append(args, "--api-key", key)
		}
		return args
	},
	Environment: func(string) []string { return nil },
	Prefix:      "SGLANG_",
	Devices:     devicesUsed,
	Short: map[string]string{
		"tp": "tp-size", "pp": "pp-size", "dp": "dp-size", "ep": "ep-size",
		"tensor-parallel-size": "tp-size", "pipeline-parallel-size": "pp-size", "data-parallel-size": "dp-size", "expert-parallel-size": "ep-size",
	},
	Reserved: map[string]string{
		"--port":          "every start gets a free one of its own",
		"--host":          "it is one where nobody else adds load",
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
	return &Engine{s, cfg.AdminKey}, nil
}

func engineOf(s *server.Server, cfg Config) engines.Engine {
	e := Engine{s, cfg.AdminKey}
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
