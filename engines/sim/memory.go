package sim

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/vllm"
)

// T is what New needs of a *testing.T.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	FailNow()
}

// client is a flavor's own engine.
type client interface {
	engines.Engine
	engines.Flusher
	engines.Loader
	engines.Scraper
	Close(ctx context.Context) error
}

// Memory is the engine in the process's memory: a real HTTP server behind
// in-memory connections, and the flavor's real client in front of it. It is an
// engines.Engine, Flusher, Loader, Scraper, Describer, Restarter, Logger and
// Virtual.
//
// Inside a testing/synctest bubble it must be made in that bubble; its time is
// then virtual and exact. Outside of one it runs on the real clock.
type Memory struct {
	server   *Server
	client   client
	listener *pipeListener
	served   chan struct{}
}

// New starts an engine for a test and ends it when the test does. What goes
// wrong fails the test at once.
func New(t T, cfg Config) *Memory {
	t.Helper()
	m, err := Open(context.Background(), cfg)
	if err != nil {
		t.Errorf("%v", err)
		t.FailNow()
		return nil
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Open is New without a test: the caller closes the engine.
func Open(ctx context.Context, cfg Config) (*Memory, error) {
	server, err := NewServer(cfg)
	if err != nil {
		return nil, err
	}
	m := &Memory{server: server, listener: newPipeListener(), served: make(chan struct{})}
	go func() {
		defer close(m.served)
		_ = server.Serve(m.listener)
	}()
	if err := m.attach(ctx); err != nil {
		_ = m.Close()
		return nil, fmt.Errorf("start the embedded engine: %w", err)
	}
	return m, nil
}

func (m *Memory) attach(ctx context.Context) error {
	cfg := m.server.cfg
	const url = "http://sim.invalid"
	var err error
	switch cfg.Flavor {
	case SGLang:
		m.client, err = sglang.Attach(ctx, sglang.Config{URL: url, APIKey: cfg.APIKey, Dial: m.listener.dial})
	case TensorRTLLM:
		if err = m.loaded(ctx); err == nil { // which the others wait for themselves
			m.client, err = attachPlain(ctx, openai.Config{URL: url, APIKey: cfg.APIKey, Dial: m.listener.dial})
		}
	default:
		m.client, err = vllm.Attach(ctx, vllm.Config{URL: url, APIKey: cfg.APIKey, Dial: m.listener.dial})
	}
	return err
}

// loaded waits for as long as the engine answers nothing after a start.
func (m *Memory) loaded(ctx context.Context) error {
	loading := m.server.cfg.Faults.LoadingFor
	if loading <= 0 {
		return nil
	}
	timer := time.NewTimer(loading)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the engine; nothing that it started runs on.
func (m *Memory) Close() error {
	err := m.server.Close()
	<-m.served
	return err
}

// Server is the server behind the in-memory connections.
func (m *Memory) Server() *Server { return m.server }

// Dial opens an in-memory connection to the server, whatever the address, for
// clients of the caller's own: it is an http.Transport's DialContext.
func (m *Memory) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return m.listener.dial(ctx, network, addr)
}

// Generate streams one generation over HTTP.
func (m *Memory) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	return m.client.Generate(ctx, r, emit)
}

// Flush asks the server's flush route.
func (m *Memory) Flush(ctx context.Context) (engines.Flush, error) { return m.client.Flush(ctx) }

// Load asks the server for its load.
func (m *Memory) Load(ctx context.Context) (engines.Load, error) { return m.client.Load(ctx) }

// Scrape reads the server's metrics page; the instance is the engine's own,
// since not every flavor's page tells it.
func (m *Memory) Scrape(ctx context.Context) (engines.Counters, error) {
	c, err := m.client.Scrape(ctx)
	if err == nil {
		m.server.mu.Lock()
		c.Instance = m.server.sched.instance()
		m.server.mu.Unlock()
	}
	return c, err
}

// Describe returns what the engine is: the same for every slowdown, noise and
// fault, and the same as the arithmetic form's.
func (m *Memory) Describe(context.Context) (engines.Identity, error) {
	return m.server.cfg.identity(), nil
}

// CompileEvents counts the shapes compiled since the start, as the lines of
// the log do.
func (m *Memory) CompileEvents(context.Context) (engines.Count, error) {
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	return engines.Known(m.server.sched.count.compiles), nil
}

// Restart ends all work as a crash does, starts the engine afresh and returns
// when it has loaded.
func (m *Memory) Restart(ctx context.Context) error {
	m.server.Restart()
	if err := m.loaded(ctx); err != nil {
		return fmt.Errorf("restart the embedded engine: %w", err)
	}
	return nil
}

// VirtualTime reports whether the engine was made in a testing/synctest
// bubble. Outside of one its clock is the real one, with all that a real clock
// has to be judged by.
func (m *Memory) VirtualTime() bool { return inBubble(m.server.origin) }
