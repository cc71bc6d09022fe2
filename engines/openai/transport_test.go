package openai

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
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

// streaming is a plain handler for real sockets: no sleeps.
var streaming = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, running("a", 1))
	http.NewResponseController(w).Flush()
	io.WriteString(w, running("b", 2)+usage(2)+ended)
})

func TestTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(streaming)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = quiet
	var protocol atomic.Value
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol.Store(r.Proto)
		streaming(w, r)
	})
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	e, err := New(Config{URL: server.URL, TLS: &tls.Config{RootCAs: roots}})
	require.NoError(t, err)
	defer e.Close()
	got := generate(t, e)
	require.NoError(t, got.err)
	assert.Equal(t, "HTTP/1.1", protocol.Load())
	assert.Equal(t, []int{1, 1}, got.tokenCounts())
	assert.Greater(t, got.reply.Connect, time.Duration(0))
	assert.GreaterOrEqual(t, got.reply.Sent, got.reply.Connect)

	e, err = New(Config{URL: server.URL})
	require.NoError(t, err)
	failure := requireClass(t, engines.Unreachable, generate(t, e))
	assert.Contains(t, failure.Message, "certificate signed by unknown authority: set Config.TLS to trust it")

	e, err = New(Config{URL: strings.Replace(server.URL, "https", "http", 1)})
	require.NoError(t, err)
	failure = requireClass(t, engines.Status, generate(t, e))
	assert.Contains(t, failure.Message, "400 Bad Request: Client sent an HTTP request to an HTTPS server.")

	plain := httptest.NewServer(streaming)
	defer plain.Close()
	e, err = New(Config{URL: strings.Replace(plain.URL, "http", "https", 1)})
	require.NoError(t, err)
	failure = requireClass(t, engines.Unreachable, generate(t, e))
	assert.Contains(t, failure.Message, "the server does not speak TLS: use http:// in the URL")
}

func TestProxies(t *testing.T) {
	plain := httptest.NewServer(streaming)
	defer plain.Close()
	secure := httptest.NewTLSServer(streaming)
	defer secure.Close()
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host)
		if r.Method != http.MethodConnect {
			(&httputil.ReverseProxy{Director: func(*http.Request) {}, FlushInterval: -1}).ServeHTTP(w, r)
			return
		}
		to, err := net.Dial("tcp", r.Host)
		require.NoError(t, err)
		from, _, err := http.NewResponseController(w).Hijack()
		require.NoError(t, err)
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(to, from); to.Close() }()
		go func() { io.Copy(from, to); from.Close() }()
	}))
	defer proxy.Close()
	at, _ := url.Parse(proxy.URL)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")

	e, err := New(Config{URL: plain.URL})
	require.NoError(t, err)
	require.NoError(t, generate(t, e).err, "the environment's proxy is not asked")
	e.Close()

	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	for _, server := range []*httptest.Server{plain, secure} {
		e, err := New(Config{URL: server.URL, Proxy: http.ProxyURL(at), TLS: &tls.Config{RootCAs: roots}})
		require.NoError(t, err)
		got := generate(t, e)
		require.NoError(t, got.err, server.URL)
		assert.Equal(t, []int{1, 1}, got.tokenCounts())
		assert.Greater(t, got.reply.Sent, time.Duration(0), "stamped below TLS, too")
		assert.GreaterOrEqual(t, got.reply.FirstEvent, got.reply.Sent)
		e.Close()
	}
	assert.Equal(t, []string{"POST " + plain.Listener.Addr().String(), "CONNECT " + secure.Listener.Addr().String()}, asked)
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

	served := 0
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if served++; served == 2 {
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
	assert.Equal(t, 2, served, "and it was not sent again")
	require.NoError(t, generate(t, e).err)
	assert.Equal(t, 2, e.Connections())
}

func TestAHostThatHasRunOut(t *testing.T) {
	for _, no := range []error{syscall.EMFILE, syscall.EADDRNOTAVAIL} {
		e, err := New(Config{URL: "http://engine", Dial: failing(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", no)})})
		require.NoError(t, err)
		failure := requireClass(t, engines.Client, generate(t, e))
		assert.Equal(t, fmt.Sprintf("http://engine: POST /v1/completions: dial tcp: socket: %v: this host has run out of it, not the server", no), failure.Message)
	}
}
