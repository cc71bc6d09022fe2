//go:build linux && (amd64 || arm64)

package openai

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/openloop-go/openloop/engines"
)

// directClient is a client of a server whose generations go through loops.
func directClient(t *testing.T, handler http.Handler, loops int) *Engine {
	t.Helper()
	_, e := directServer(t, handler, loops, nil)
	return e
}

// directServer is such a client and its server, which tells a state of its
// connections where that is asked for.
func directServer(t *testing.T, handler http.Handler, loops int, state func(net.Conn, http.ConnState)) (*httptest.Server, *Engine) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = state
	server.Start()
	t.Cleanup(server.Close)
	e, err := New(Config{URL: server.URL})
	require.NoError(t, err)
	e.direct = directOver(e, loops)
	t.Cleanup(func() { e.Close() })
	return server, e
}

func TestWhatGoesThroughTheLoop(t *testing.T) {
	for what, tt := range map[string]struct {
		cfg  Config
		want bool
	}{
		"plain HTTP":          {Config{URL: "http://host"}, true},
		"https":               {Config{URL: "https://host"}, false},
		"HTTP/2":              {Config{URL: "http://host", HTTP2: true}, false},
		"a proxy":             {Config{URL: "http://host", Proxy: http.ProxyFromEnvironment}, false},
		"an engine in memory": {Config{URL: "http://host", Dial: newMemory().dial}, false},
	} {
		e, err := New(tt.cfg)
		require.NoError(t, err)
		assert.Equal(t, tt.want, newDirect(e) != nil, what)
	}
}

// What a caller's emit does ends its own generation and no other.
func TestEmitThatDoesNotReturn(t *testing.T) {
	release := make(chan struct{})
	e := directClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, running("a", 1))
		http.NewResponseController(w).Flush()
		<-release
		io.WriteString(w, running("b", 2)+usage(2)+ended)
	}), 1)
	var others sync.WaitGroup
	first := make(chan struct{}, 3)
	for range 3 {
		others.Go(func() {
			events := 0
			_, err := e.Generate(t.Context(), &engines.Request{Text: "x", MaxTokens: 5}, func(c engines.Chunk) {
				if events++; events == 1 {
					first <- struct{}{}
				}
			})
			assert.NoError(t, err)
			assert.Equal(t, 4, events)
		})
	}
	for range 3 {
		<-first
	}
	assert.PanicsWithValue(t, "no", func() {
		e.Generate(t.Context(), &engines.Request{Text: "x", MaxTokens: 5}, func(engines.Chunk) { panic("no") })
	})
	left := make(chan bool)
	go func() {
		returned := false
		defer func() { left <- !returned && recover() == nil }()
		e.Generate(t.Context(), &engines.Request{Text: "x", MaxTokens: 5}, func(engines.Chunk) { runtime.Goexit() })
		returned = true
	}()
	assert.True(t, <-left, "the caller's goroutine ends, as if emit had run in it")
	close(release)
	others.Wait()
	got := generate(t, e)
	assert.NoError(t, got.err)
}

func TestCancelInTheMiddleOfAStream(t *testing.T) {
	gone := make(chan struct{})
	e := directClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, running("a", 1))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}), 1)
	ctx, cancel := context.WithCancel(t.Context())
	events := 0
	reply, err := e.Generate(ctx, &engines.Request{Text: "x", MaxTokens: 5}, func(engines.Chunk) {
		events++
		time.AfterFunc(time.Millisecond, cancel)
	})
	failure := requireClass(t, engines.Canceled, result{err: err})
	assert.ErrorIs(t, failure, context.Canceled)
	assert.Equal(t, 1, events)
	assert.Equal(t, engines.Known(1), reply.OutputTokens)
	<-gone // the server sees the connection end
}

// A prompt that is longer than what the connection takes at once leaves as
// the server reads it.
func TestALongPromptLeavesInParts(t *testing.T) {
	text := strings.Repeat("long ", 4<<20)
	e := directClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		for buf := make([]byte, 64<<10); ; {
			m, err := r.Body.Read(buf)
			if n += m; err != nil {
				break
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, data(fmt.Sprintf(`{"choices":[{"text":"a"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, n))+ended)
	}), 1)
	r := &engines.Request{Text: text, MaxTokens: 8}
	reply, err := e.Generate(t.Context(), r, func(engines.Chunk) {})
	require.NoError(t, err)
	assert.Equal(t, engines.Known(len(e.body(r, e.form.Load()))), reply.PromptTokens)
}

// A server that closes idle connections is noticed when it does, not when the
// next request is lost on one.
func TestIdleConnectionsThatTheServerCloses(t *testing.T) {
	server, e := directServer(t, streaming, 1, nil)
	require.NoError(t, generate(t, e).err) // this one waits for the habit
	require.NoError(t, generate(t, e).err)
	require.Equal(t, 1, e.Connections())
	e.direct.idle[0].ended.Store(0) // it is idle for longer than a habit takes
	server.CloseClientConnections()
	require.Eventually(t, func() bool { return !e.direct.idle[0].alive() }, 10*time.Second, time.Millisecond)
	got := generate(t, e)
	require.NoError(t, got.err)
	assert.True(t, got.reply.NewConnection)
}

// Connections that the server has closed are not counted as warm.
func TestWarmBesidesWhatTheServerClosed(t *testing.T) {
	var seen atomic.Int32
	server, e := directServer(t, streaming, 1, func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			seen.Add(1)
		}
	})
	require.NoError(t, e.Warm(t.Context(), 5))
	require.Eventually(t, func() bool { return seen.Load() == 5 }, 10*time.Second, time.Millisecond)
	wires := append([]*wire(nil), e.direct.idle...)
	server.CloseClientConnections()
	for _, w := range wires {
		require.Eventually(t, func() bool { return !w.alive() }, 10*time.Second, time.Millisecond)
	}
	require.NoError(t, e.Warm(t.Context(), 5))
	assert.Equal(t, 10, e.Connections())
	assert.Equal(t, 5, e.direct.len())
	got := generate(t, e)
	require.NoError(t, got.err)
	assert.False(t, got.reply.NewConnection)
}

// Connections are closed when they have been idle for long, and the loop ends
// with the last.
func TestTheLoopEndsWithItsConnections(t *testing.T) {
	other := goleak.IgnoreCurrent()
	server := httptest.NewServer(streaming)
	e, err := New(Config{URL: server.URL})
	require.NoError(t, err)
	e.direct = directOver(e, 3)
	for range 2 { // it starts again
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { assert.NoError(t, generate(t, e).err) })
		}
		all.Wait()
		e.direct.mu.Lock()
		for _, w := range e.direct.idle {
			w.idle = w.idle.Add(-idleTimeout)
		}
		e.direct.mu.Unlock()
		e.direct.expire()
		require.Zero(t, e.direct.len())
	}
	require.NoError(t, generate(t, e).err)
	require.NoError(t, e.Close())
	server.Close()
	goleak.VerifyNone(t, other)
}
