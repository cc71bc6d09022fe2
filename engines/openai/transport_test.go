package openai

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestL06NoCapOnConnections(t *testing.T) {
	var now, most int
	var mu sync.Mutex
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(time.Second)
		mu.Lock()
		now--
		mu.Unlock()
		script{steps: []step{{send: completion("a") + ended}}}.ServeHTTP(w, r)
	})
	inMemory(t, handler, Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		start := time.Now()
		var wg sync.WaitGroup
		for range 150 {
			wg.Go(func() { assert.NoError(t, generate(t, e).err) })
		}
		wg.Wait()
		assert.Equal(t, 150, most, "at the server at once")
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestL07ConnectionsAreUsedAgain(t *testing.T) {
	handler := script{steps: []step{{at: 1e6, send: completion("a") + ended}}}
	inMemory(t, handler, Config{}, func(t *testing.T, e *Engine) {
		var fresh atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 50 {
					got := generate(t, e)
					assert.NoError(t, got.err)
					if got.reply.NewConnection {
						fresh.Add(1)
					}
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 4, e.Connections())
		assert.Equal(t, int32(4), fresh.Load())
	})
}

func TestL11TheWaitForAConnectionIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		go (&http.Server{Handler: script{steps: []step{{at: 7e6, send: completion("a") + ended}}}}).Serve(m)
		defer m.Close()
		e, err := New(Config{URL: "http://engine", Dial: slowly(m.dial, 100*time.Millisecond)})
		require.NoError(t, err)
		defer e.Close()
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.Equal(t, 100*time.Millisecond, got.reply.Connect)
		assert.Equal(t, 100*time.Millisecond, got.reply.Sent)
		assert.Equal(t, 107*time.Millisecond, got.reply.FirstEvent)
		assert.True(t, got.reply.NewConnection)
		got = generate(t, e)
		assert.Zero(t, got.reply.Connect)
		assert.Zero(t, got.reply.Sent)
		assert.False(t, got.reply.NewConnection)
	})
}

// S10: a proxy that holds everything until the end. The times say so: there is
// nothing between the tokens.
func TestS10AProxyThatBuffers(t *testing.T) {
	var steps []step
	for i := range 50 {
		steps = append(steps, step{at: time.Duration(i+1) * 20 * time.Millisecond, send: running("a", i+1)})
	}
	steps = append(steps, step{at: time.Second, send: ended})
	hold := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		script{steps: steps}.ServeHTTP(recorded, r)
		w.Header().Set("Content-Type", "text/event-stream")
		io.Copy(w, recorded.Body)
	})
	inMemory(t, hold, Config{}, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err)
		times := got.tokenTimes()
		require.Len(t, times, 50)
		assert.Equal(t, time.Second, times[0])
		assert.Equal(t, time.Second, times[49])
		assert.Equal(t, engines.Known(50), got.reply.OutputTokens)
	})
}

// S23 and S29 with real resets.
func TestResetsOfRealConnections(t *testing.T) {
	reset := func(w http.ResponseWriter) {
		c, _, err := http.NewResponseController(w).Hijack()
		require.NoError(t, err)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	read := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, running("a", 1)+running("b", 2))
		http.NewResponseController(w).Flush()
		<-read
		reset(w)
	}))
	defer server.Close()
	e, err := New(Config{URL: server.URL})
	require.NoError(t, err)
	var tokens int
	reply, err := e.Generate(t.Context(), &engines.Request{Text: "x", MaxTokens: 5}, func(c engines.Chunk) {
		if tokens++; tokens == 2 {
			close(read)
		}
	})
	failure := requireClass(t, engines.Reset, result{err: err})
	assert.ErrorIs(t, failure, syscall.ECONNRESET)
	assert.Equal(t, engines.Known(2), reply.OutputTokens)

	var served atomic.Int32
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if served.Add(1) == 2 {
			reset(w)
			return
		}
		streaming(w, r)
	}))
	defer server.Close()
	e, err = New(Config{URL: server.URL})
	require.NoError(t, err)
	defer e.Close()
	require.NoError(t, generate(t, e).err)
	requireClass(t, engines.Stale, generate(t, e))
	assert.Equal(t, int32(2), served.Load(), "and it was not sent again")
	require.NoError(t, generate(t, e).err)
	assert.Equal(t, 2, e.Connections())
}

func TestAHostThatHasRunOut(t *testing.T) {
	for _, no := range []error{syscall.EMFILE, syscall.EADDRNOTAVAIL} {
		e, err := New(Config{URL: "http://engine", Dial: failing(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", no)})})
		require.NoError(t, err)
		failure := requireClass(t, engines.Client, generate(t, e))
		assert.Equal(t, fmt.Sprintf("http://engine: POST /v1/completions: dial tcp: socket: %v: this host has run out of it, not the server", no)+shortage(no), failure.Message)
	}
}
