package openai

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// issued is a certificate of 127.0.0.1 for a year, signed by another or, where
// that is nil, by itself.
func issued(t *testing.T, by *tls.Certificate, change func(*x509.Certificate)) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: by == nil,
	}
	if change != nil {
		change(c)
	}
	parent, signer := c, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// What is wrong with a certificate, each with a remedy of its own.
func TestCertificatesThatAreRefused(t *testing.T) {
	authority := issued(t, nil, func(c *x509.Certificate) { c.Subject.CommonName = "Gate CA" })
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	old, early := time.Now().AddDate(0, 0, -9), time.Now().AddDate(0, 0, 9)
	for _, tt := range []struct {
		what   string
		server *tls.Certificate
		roots  *x509.CertPool
		want   string // up to the day of today
	}{
		{"trusted", issued(t, authority, nil), roots, ""},
		{"self-signed", issued(t, nil, nil), roots,
			"the server's certificate is self-signed: add it to Config.TLS.RootCAs, or to this host's roots (SSL_CERT_FILE)"},
		{"by an authority that is not known", issued(t, authority, nil), x509.NewCertPool(),
			`the server's certificate is signed by "CN=Gate CA", whom this host does not trust: add that authority to Config.TLS.RootCAs, or to this host's roots (SSL_CERT_FILE)`},
		{"expired", issued(t, authority, func(c *x509.Certificate) { c.NotBefore, c.NotAfter = old.AddDate(-1, 0, 0), old }), roots,
			"the server's certificate expired on " + old.UTC().Format(time.DateOnly) + ", and here it is "},
		{"not valid yet", issued(t, authority, func(c *x509.Certificate) { c.NotBefore = early }), roots,
			"the server's certificate is valid from " + early.UTC().Format(time.DateOnly) + " on, and here it is "},
		{"for another name", issued(t, authority, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"gate.example.org"} }), roots,
			"cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs: use a name of the certificate in the URL, or set Config.TLS.ServerName to one"},
		{"for another address", issued(t, authority, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 2)} }), roots,
			"certificate is valid for 127.0.0.2, not 127.0.0.1: use a name of the certificate in the URL, or set Config.TLS.ServerName to one"},
	} {
		for _, http2 := range []bool{false, true} {
			server := httptest.NewUnstartedServer(streaming)
			server.EnableHTTP2 = true
			server.Config.ErrorLog = quiet
			server.TLS = &tls.Config{Certificates: []tls.Certificate{*tt.server}}
			server.StartTLS()
			e, err := New(Config{URL: server.URL, TLS: &tls.Config{RootCAs: tt.roots}, HTTP2: http2, APIKey: "sk-secret"})
			require.NoError(t, err)
			got := generate(t, e)
			if tt.want == "" {
				assert.NoError(t, got.err, tt.what)
			} else {
				failure := requireClass(t, engines.Protocol, got)
				said, today, _ := strings.Cut(failure.Message, "and here it is ")
				if today != "" {
					said += "and here it is "
				}
				assert.Equal(t, server.URL+": POST /v1/completions: "+tt.want, said, tt.what)
			}
			e.Close()
			server.Close()
		}
	}
}

// A certificate is out of time by the day that it is here.
func TestCertificatesOutOfTime(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, time.May, n, 23, 59, 59, 0, time.UTC) }
	c := &x509.Certificate{NotBefore: day(10), NotAfter: day(20)}
	assert.Equal(t, "the server's certificate is valid from 2026-05-10 on, and here it is 2026-05-09: correct this host's clock, or wait", outOfTime(c, day(9)))
	assert.Equal(t, "the server's certificate expired on 2026-05-20, and here it is 2026-05-21: renew it on the server, or correct this host's clock", outOfTime(c, day(21)))
}

// A server that wants to know its clients says so, in the handshake or after it.
func TestAServerThatWantsAClientCertificate(t *testing.T) {
	url, trust := overTLS(t, streaming, func(s *httptest.Server) { s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert} })
	e, err := New(Config{URL: url, TLS: trust})
	require.NoError(t, err)
	defer e.Close()
	got := generate(t, e)
	require.Error(t, got.err)
	// Where the write of the request notices first that the server has closed, the
	// alert is not read, and the class is that of a server that hangs up.
	sentences := map[engines.Class]string{
		engines.Protocol: "remote error: tls: certificate required: the server wants to know its clients: set Config.TLS.Certificates",
		engines.Reset:    "the server broke the connection off .* or set Config.TLS.Certificates if it wants to know its clients",
	}
	want, known := sentences[got.class()]
	require.True(t, known, "class %s: %v", got.class(), got.err)
	assert.Regexp(t, "^"+url+": POST /v1/completions: "+want+"$", got.err.Error())
}

// What does not speak TLS, and does not say what it speaks either.
func TestHandshakesThatEnd(t *testing.T) {
	for what, tt := range map[string]struct {
		sends string
		class engines.Class
		want  string
	}{
		"without a word":         {"", engines.Unreachable, `: the server broke the TLS handshake off \((EOF|unexpected EOF|.*reset by peer)\): use http:// in the URL if it does not speak TLS$`},
		"with an answer of HTTP": {"HTTP/1.1 400 Bad Request\r\n\r\n", engines.Protocol, `: the server does not speak TLS: use http:// in the URL$`},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				c.Read(make([]byte, 64<<10))
				io.WriteString(c, tt.sends)
				c.Close()
			}
		}()
		url := "https://" + l.Addr().String()
		e, err := New(Config{URL: url})
		require.NoError(t, err)
		failure := requireClass(t, tt.class, generate(t, e))
		assert.Regexp(t, tt.want, failure.Message, what)
		assert.True(t, strings.HasPrefix(failure.Message, url+": POST /v1/completions: "))
		e.Close()
		l.Close()
	}
}

// A server that takes a connection and leaves it at that.
func TestAHandshakeThatHangs(t *testing.T) {
	rawMemory(t, func(c net.Conn) { drain(c) }, Config{URL: "https://engine"}, func(t *testing.T, e *Engine) {
		began := time.Now()
		failure := requireClass(t, engines.Unreachable, generate(t, e))
		assert.Equal(t, tlsTimeout, time.Since(began))
		assert.Equal(t, "https://engine: POST /v1/completions: the server did not answer a TLS handshake within 10s: use http:// in the URL if it does not speak TLS", failure.Message)
	})
}

// A server that speaks TLS and closes what does not, without a word, is told from
// one that closes everything.
func TestAServerOfTLSThatSaysNothing(t *testing.T) {
	own := issued(t, nil, nil)
	for _, secure := range []bool{true, false} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		var taken, shown atomic.Int32
		server := &tls.Config{
			Certificates: []tls.Certificate{*own}, ClientAuth: tls.RequestClientCert,
			VerifyConnection: func(s tls.ConnectionState) error { shown.Add(int32(len(s.PeerCertificates))); return nil },
		}
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				taken.Add(1)
				go func() {
					defer c.Close()
					first := make([]byte, 64<<10)
					n, _ := c.Read(first)
					if secure && n > 0 && first[0] == 22 { // a handshake's record
						tls.Server(again{c, bytes.NewReader(first[:n])}, server).Handshake()
					}
				}()
			}
		}()
		url := "http://" + l.Addr().String()
		e, err := New(Config{URL: url, TLS: &tls.Config{
			Certificates:         []tls.Certificate{*own},
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own, nil },
			VerifyConnection:     func(tls.ConnectionState) error { return errors.New("whoever that is") },
		}})
		require.NoError(t, err)
		for range 3 {
			got := generate(t, e)
			if secure {
				failure := requireClass(t, engines.Protocol, got)
				assert.Equal(t, url+": POST /v1/completions: the server speaks TLS: use https:// in the URL", failure.Message)
			} else {
				failure := requireClass(t, engines.Reset, got)
				assert.Equal(t, url+": POST /v1/completions: the server closed the connection without an answer: look into its log", failure.Message)
			}
		}
		_, err = e.Models(t.Context())
		assert.Equal(t, secure, strings.HasSuffix(err.Error(), "GET /v1/models: the server speaks TLS: use https:// in the URL"), "%v", err)
		assert.Zero(t, shown.Load(), "nobody knows who that is: no client certificate goes to it")
		assert.LessOrEqual(t, taken.Load(), int32(6), "it is asked once, and a GET may be sent twice")
		e.Close()
		l.Close()
	}
}

// again is a connection of which something has been read.
type again struct {
	net.Conn
	first *bytes.Reader
}

func (a again) Read(b []byte) (int, error) {
	if a.first.Len() > 0 {
		return a.first.Read(b)
	}
	return a.Conn.Read(b)
}
