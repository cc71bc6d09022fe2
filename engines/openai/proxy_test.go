package openai

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/proxyenv"
)

// noProxy takes the proxies out of the environment.
func noProxy(t *testing.T) {
	t.Helper()
	for _, name := range slices.Concat(proxyenv.Names, proxyenv.Excluding) {
		t.Setenv(name, "")
	}
}

// A proxy that the environment names is not used, and is named where that may
// be why a server is not reached.
func TestAProxyInTheEnvironment(t *testing.T) {
	noProxy(t)
	e, err := New(Config{URL: "http://host"})
	require.NoError(t, err)
	lost := &net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}
	late := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	assert.Empty(t, e.through(engines.Unreachable, lost))
	t.Setenv("https_proxy", "http://user:secret@proxy")
	const said = " (https_proxy is set and is not used: set Config.Proxy if the server is behind it)"
	assert.Equal(t, said, e.through(engines.Unreachable, lost))
	assert.Equal(t, said, e.through(engines.Unreachable, late))
	assert.Equal(t, said, e.through(engines.Unreachable, os.NewSyscallError("connect", syscallECONNREFUSED)), "a firewall may refuse as well")
	assert.Empty(t, e.through(engines.Unreachable, io.EOF), "that was an answer")
	assert.Empty(t, e.through(engines.Reset, lost))

	t.Setenv("NO_PROXY", ".cluster")
	for _, tt := range []struct {
		what, url    string
		proxy        func(*http.Request) (*url.URL, error)
		used, unused string
		said         string
	}{
		{"one elsewhere", "http://host", nil, "", "https_proxy", said},
		{"one that the environment excludes", "http://gpu.cluster:8000", nil, "", "", ""},
		{"one on this host", "http://127.0.0.1:8000", nil, "", "", ""},
		{"one on this host by name", "http://localhost:8000", nil, "", "", ""},
		{"one on this host over IPv6", "http://[::1]:8000", nil, "", "", ""},
		{"one behind a proxy", "http://host", http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy:3128", User: url.UserPassword("user", "secret")}),
			"http://proxy:3128", "", " (through the proxy http://proxy:3128, of Config.Proxy)"},
		{"one that its proxy leaves out", "http://host", func(*http.Request) (*url.URL, error) { return nil, nil }, "", "", ""},
		{"one whose proxy is not known", "http://host", func(*http.Request) (*url.URL, error) { return nil, io.EOF }, "", "", ""},
	} {
		e, err := New(Config{URL: tt.url, Proxy: tt.proxy})
		require.NoError(t, err)
		used, unused := e.Proxy()
		assert.Equal(t, tt.used, used, tt.what)
		assert.Equal(t, tt.unused, unused, tt.what)
		assert.Equal(t, tt.said, e.through(engines.Unreachable, lost), tt.what)
	}
}

// What fails on the way through a proxy names it, since it may be the cause, and
// says to correct it where it alone was dialled. Nothing shows its password.
func TestFailuresThroughAProxy(t *testing.T) {
	noProxy(t)
	listen := func(serve func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		if serve == nil {
			require.NoError(t, l.Close())
			return l.Addr().String()
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go serve(c)
			}
		}()
		return l.Addr().String()
	}
	answer := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, text)
			c.Close()
		}
	}
	for _, tt := range []struct {
		what  string
		serve func(net.Conn)
		dial  error
		class engines.Class
		said  string
	}{
		{"it does not run", nil, nil, engines.Unreachable, "connection refused: start the proxy or correct Config.Proxy"},
		{"its name is not known", nil, &net.DNSError{Err: "no such host", Name: "gate", IsNotFound: true}, engines.Unreachable, `host "gate" not found: correct Config.Proxy`},
		{"it does not answer", nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, engines.Unreachable,
			"proxyconnect tcp: dial: i/o timeout: nothing answers at this address: correct Config.Proxy, or have the firewall let it pass"},
		{"it hangs", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, nil, engines.Silent, "no byte for 50ms"},
		{"it hangs up", answer(""), nil, engines.Reset, "the server closed the connection without an answer: look into its log"},
		{"it speaks another protocol", answer("SSH-2.0-OpenSSH_9.2\r\n"), nil, engines.Protocol,
			`what answers does not speak HTTP (it says "SSH-2.0-OpenSSH_9.2"): correct Config.Proxy`},
		{"it gets no answer", answer("HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n"), nil, engines.Status,
			"504 Gateway Timeout: what is before the server got no answer from it: look into both logs"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			at := listen(tt.serve)
			cfg := Config{URL: "http://gpu.invalid:8000", Silence: 50 * time.Millisecond,
				Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: at, User: url.UserPassword("ann", "sesame-street")})}
			if tt.dial != nil {
				cfg.Dial = failing(tt.dial)
			}
			e, err := New(cfg)
			require.NoError(t, err)
			defer e.Close()
			failure := requireClass(t, tt.class, generate(t, e))
			assert.Equal(t, "http://gpu.invalid:8000: POST /v1/completions: "+tt.said+" (through the proxy http://"+at+", of Config.Proxy)", failure.Message)
		})
	}
}
