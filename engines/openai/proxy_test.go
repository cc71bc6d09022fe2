package openai

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"testing"

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
