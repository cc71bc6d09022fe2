package openai

import (
	"context"
	"net"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A warm client's requests wait for no connection, and say so.
func TestWarmConnectionsAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		server := &http.Server{Handler: script{steps: []step{{at: 1e6, send: completion("a") + ended}}}}
		go server.Serve(m)
		defer server.Close()
		e, err := New(Config{URL: "http://engine", Dial: slowly(m.dial, 100*time.Millisecond)})
		require.NoError(t, err)
		defer e.Close()
		require.NoError(t, e.Warm(t.Context(), 3))
		require.NoError(t, e.Warm(t.Context(), 3), "there are three")
		assert.Equal(t, 3, e.Connections())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				got := generate(t, e)
				assert.NoError(t, got.err)
				assert.Zero(t, got.reply.Connect)
				assert.False(t, got.reply.NewConnection)
			})
		}
		wg.Wait()
		assert.Equal(t, 3, e.Connections())

		require.NoError(t, e.Warm(t.Context(), 5))
		time.Sleep(idleTimeout)
		synctest.Wait()
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.True(t, got.reply.NewConnection, "what is idle for so long is closed")
	})
}

// Connections that are about to be closed for their idleness are not counted
// on.
func TestWarmBesidesWhatExpires(t *testing.T) {
	inMemory(t, script{steps: []step{{send: completion("a") + ended}}}, Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, e.Warm(t.Context(), 3))
		time.Sleep(idleTimeout - soon - 1)
		require.NoError(t, e.Warm(t.Context(), 3))
		assert.Equal(t, 3, e.Connections())
		time.Sleep(1)
		require.NoError(t, e.Warm(t.Context(), 3))
		assert.Equal(t, 6, e.Connections())
		time.Sleep(soon)
		require.NoError(t, e.Warm(t.Context(), 3))
		assert.Equal(t, 6, e.Connections(), "three are still idle")
	})
}

func TestWarmOverTCP(t *testing.T) {
	var seen atomic.Int32
	server := httptest.NewUnstartedServer(streaming)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			seen.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	e, err := New(Config{URL: server.URL})
	require.NoError(t, err)
	defer e.Close()
	require.NoError(t, e.Warm(t.Context(), 100))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			got := generate(t, e)
			assert.NoError(t, got.err)
			assert.False(t, got.reply.NewConnection)
		})
	}
	wg.Wait()
	assert.Equal(t, 100, e.Connections())
	assert.Equal(t, int32(100), seen.Load())
}

func TestWarmThatFails(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed.Close()
	e, err := New(Config{URL: "http://" + closed.Addr().String()})
	require.NoError(t, err)
	failure := requireClass(t, engines.Unreachable, result{err: e.Warm(t.Context(), 2)})
	assert.Equal(t, e.URL()+": open connections: connection refused: start the server or correct the URL", failure.Message)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	requireClass(t, engines.Canceled, result{err: e.Warm(ctx, 2)})

	fresh, err := New(Config{URL: e.URL(), Fresh: true})
	require.NoError(t, err)
	assert.NoError(t, fresh.Warm(t.Context(), 2), "each generation opens its own")
}
