package openai

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// memory is a listener whose connections are net.Pipes.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory {
	return &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error { m.once.Do(func() { close(m.closed) }); return nil }

func (m *memory) Addr() net.Addr { return &net.TCPAddr{} }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.conns <- server:
		return client, nil
	case <-m.closed:
		return nil, errors.New("nobody listens")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inMemory serves a handler in a bubble of virtual time and calls f with a
// client of it.
func inMemory(t *testing.T, handler http.Handler, cfg Config, f func(t *testing.T, e *Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		var busy sync.WaitGroup
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			busy.Add(1)
			defer busy.Done()
			handler.ServeHTTP(w, r)
		})}
		go server.Serve(m)
		defer func() {
			server.Close()
			synctest.Wait() // no handler starts any more
			busy.Wait()
		}()
		f(t, memoryClient(t, m, cfg))
	})
}

// rawMemory is inMemory for a server that is given each connection.
func rawMemory(t *testing.T, serve func(c net.Conn), cfg Config, f func(t *testing.T, e *Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		defer m.Close()
		go func() {
			for {
				c, err := m.Accept()
				if err != nil {
					return
				}
				go serve(c)
			}
		}()
		f(t, memoryClient(t, m, cfg))
		time.Sleep(time.Minute) // what the server still does ends
	})
}

// slowly dials after a delay.
func slowly(dial dialer, delay time.Duration) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		time.Sleep(delay)
		return dial(ctx, network, addr)
	}
}

// failing never dials.
func failing(err error) dialer {
	return func(context.Context, string, string) (net.Conn, error) { return nil, err }
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// quiet is a server's log that goes nowhere.
var quiet = log.New(io.Discard, "", 0)

func memoryClient(t *testing.T, m *memory, cfg Config) *Engine {
	t.Helper()
	if cfg.URL == "" {
		cfg.URL = "http://engine"
	}
	cfg.Dial = m.dial
	e, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	return e
}
