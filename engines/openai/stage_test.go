package openai

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// What has no connection in time says in which part of opening one it was.
func TestWhereAConnectionIsStuck(t *testing.T) {
	noProxy(t)
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer hangs.Close()
	go func() {
		for c, err := hangs.Accept(); err == nil; c, err = hangs.Accept() {
			go io.Copy(io.Discard, c)
		}
	}()
	wait := func(at func(*httptrace.ClientTrace)) dialer {
		return func(ctx context.Context, _, _ string) (net.Conn, error) {
			if at != nil {
				at(httptrace.ContextClientTrace(ctx))
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer gate.Close()
	go func() {
		for c, err := gate.Accept(); err == nil; c, err = gate.Accept() {
			go func() {
				_, _ = http.ReadRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	through := func(l net.Listener) *url.URL { return &url.URL{Scheme: "http", Host: l.Addr().String()} }
	for _, tt := range []struct {
		what, url string
		dial      dialer
		proxy     *url.URL
		want      string
	}{
		{"in the look-up", "http://host", wait(func(t *httptrace.ClientTrace) { t.DNSStart(httptrace.DNSStartInfo{}) }), nil,
			`host "host" was being looked up: correct this host's name server, or use an address in the URL`},
		{"in the connection", "http://host", wait(func(t *httptrace.ClientTrace) { t.DNSStart(httptrace.DNSStartInfo{}); t.ConnectStart("tcp", "x") }), nil,
			"nothing answers at this address: correct the URL, or have the firewall let it pass"},
		{"in a dialler of the caller's", "http://host", wait(nil), nil,
			"nothing answers at this address: correct the URL, or have the firewall let it pass"},
		{"in the handshake", "https://" + hangs.Addr().String(), nil, nil,
			"the server does not answer a TLS handshake: use http:// in the URL if it does not speak TLS"},
		{"in a proxy", "https://host", nil, through(hangs),
			"the proxy opens no way to the server: look into its log, or correct the URL (through the proxy http://" + hangs.Addr().String() + ", of Config.Proxy)"},
		{"in the handshake through a proxy", "https://host", nil, through(gate),
			"the server does not answer a TLS handshake: use http:// in the URL if it does not speak TLS (through the proxy http://" + gate.Addr().String() + ", of Config.Proxy)"},
	} {
		cfg := Config{URL: tt.url, Dial: tt.dial, Timeout: 200 * time.Millisecond}
		if tt.proxy != nil {
			cfg.Proxy = http.ProxyURL(tt.proxy)
		}
		e, err := New(cfg)
		require.NoError(t, err)
		_, err = e.Models(t.Context())
		failure := requireClass(t, engines.Unreachable, result{err: err})
		assert.Equal(t, tt.url+": GET /v1/models: no connection within 200ms: "+tt.want, failure.Message, tt.what)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		e.Close()
	}
}
