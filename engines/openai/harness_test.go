package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
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

func (m *memory) Close() error   { m.once.Do(func() { close(m.closed) }); return nil }
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
		defer busy.Wait()
		defer server.Close()
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

// step is something a scripted server does at a time after the request came.
type step struct {
	at   time.Duration
	send string
	// drop breaks the connection off.
	drop bool
}

// script is a handler that streams its steps. headers are sent at once.
type script struct {
	steps []step
	kind  string // content type; empty is an event stream's
	code  int
}

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, flush := time.Now(), http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	if s.kind != "" {
		w.Header().Set("Content-Type", s.kind)
	}
	if s.code != 0 {
		w.WriteHeader(s.code)
	}
	flush.Flush()
	for _, step := range s.steps {
		select {
		case <-time.After(time.Until(start.Add(step.at))):
		case <-r.Context().Done():
			return
		}
		if step.drop {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, step.send)
		flush.Flush()
	}
}

// origin is how long before the request the driver's clock began.
const origin = time.Second

// result is what came of one generation, its times since the request.
type result struct {
	chunks []engines.Chunk
	reply  engines.Reply
	err    error
}

// generate asks for one generation; it is made to see the contract kept.
func generate(t *testing.T, e *Engine, change ...func(*engines.Request)) result {
	t.Helper()
	start := time.Now().Add(-origin)
	r := &engines.Request{ID: "r1", Text: "hello", MaxTokens: 8, Stamp: func() time.Duration { return time.Since(start) }}
	for _, f := range change {
		f(r)
	}
	var got result
	got.reply, got.err = e.Generate(t.Context(), r, func(c engines.Chunk) {
		c.At -= origin
		got.chunks = append(got.chunks, c)
	})
	for _, at := range []*time.Duration{&got.reply.Sent, &got.reply.FirstEvent, &got.reply.Closed} {
		if *at != 0 {
			*at -= origin
		}
	}
	return got
}

// tokenTimes are the times of the token events.
func (r result) tokenTimes() []time.Duration {
	var times []time.Duration
	for _, c := range r.chunks {
		if c.Token {
			times = append(times, c.At)
		}
	}
	return times
}

// tokenCounts are the counts of the token events; -1 is unknown.
func (r result) tokenCounts() []int {
	var counts []int
	for _, c := range r.chunks {
		if n := c.Tokens; c.Token && n.Known {
			counts = append(counts, n.N)
		} else if c.Token {
			counts = append(counts, -1)
		}
	}
	return counts
}

// class is the class of the failure, "" for none.
func (r result) class() engines.Class {
	var failure *engines.Error
	if errors.As(r.err, &failure) {
		return failure.Class
	}
	if r.err != nil {
		return "not an *engines.Error"
	}
	return ""
}

func ms(times ...int) []time.Duration {
	var out []time.Duration
	for _, t := range times {
		out = append(out, time.Duration(t)*time.Millisecond)
	}
	return out
}

// data makes an event of each JSON text.
func data(texts ...string) string {
	var b strings.Builder
	for _, s := range texts {
		b.WriteString("data: " + s + "\n\n")
	}
	return b.String()
}

// completion is an event with text; chat one with a delta.
func completion(text string) string {
	return data(fmt.Sprintf(`{"model":"m","choices":[{"text":%q}]}`, text))
}

func chat(delta string) string { return data(`{"choices":[{"delta":` + delta + `}]}`) }

// ended are the events that end a stream well.
var ended = data(`{"choices":[{"text":"","delta":{},"finish_reason":"length"}]}`, `[DONE]`)

func requireClass(t *testing.T, want engines.Class, got result) *engines.Error {
	t.Helper()
	require.Equal(t, want, got.class(), "%v", got.err)
	var failure *engines.Error
	require.ErrorAs(t, got.err, &failure)
	assert.NotContains(t, failure.Message, "\n")
	return failure
}
