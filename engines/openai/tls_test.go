package openai

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// streaming is a plain handler for real sockets: no sleeps.
var streaming = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, running("a", 1))
	http.NewResponseController(w).Flush()
	io.WriteString(w, running("b", 2)+usage(2)+ended)
})

// overTLS is a server that speaks HTTP/1.1 and HTTP/2 over TLS, changed before it
// starts, and the configuration that trusts it.
func overTLS(t *testing.T, handler http.Handler, change func(*httptest.Server)) (url string, trust *tls.Config) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = quiet
	if change != nil {
		change(server)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server.URL, &tls.Config{RootCAs: roots}
}

func TestTLS(t *testing.T) {
	var protocol atomic.Value
	secure, trust := overTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol.Store(r.Proto)
		streaming(w, r)
	}), nil)

	e, err := New(Config{URL: secure, TLS: trust})
	require.NoError(t, err)
	defer e.Close()
	got := generate(t, e)
	require.NoError(t, got.err)
	assert.Equal(t, "HTTP/1.1", protocol.Load())
	assert.Equal(t, []int{1, 1}, got.tokenCounts())
	assert.Greater(t, got.reply.Connect, time.Duration(0))
	assert.GreaterOrEqual(t, got.reply.Sent, got.reply.Connect)

	e, err = New(Config{URL: secure})
	require.NoError(t, err)
	failure := requireClass(t, engines.Protocol, generate(t, e))
	assert.Equal(t, secure+": POST /v1/completions: the server's certificate is self-signed: add it to Config.TLS.RootCAs, or to this host's roots (SSL_CERT_FILE)", failure.Message)

	e, err = New(Config{URL: strings.Replace(secure, "https", "http", 1)})
	require.NoError(t, err)
	failure = requireClass(t, engines.Status, generate(t, e))
	assert.Equal(t, e.URL()+": POST /v1/completions: 400 Bad Request: Client sent an HTTP request to an HTTPS server.: the server speaks TLS: use https:// in the URL", failure.Message)

	plain := httptest.NewServer(streaming)
	defer plain.Close()
	e, err = New(Config{URL: strings.Replace(plain.URL, "http", "https", 1)})
	require.NoError(t, err)
	failure = requireClass(t, engines.Protocol, generate(t, e))
	assert.Equal(t, e.URL()+": POST /v1/completions: the server does not speak TLS: use http:// in the URL", failure.Message)
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
			(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, FlushInterval: -1}).ServeHTTP(w, r)
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
