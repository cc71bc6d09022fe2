package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// handshakeError is what ended a TLS handshake.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// alerts are what servers tell by TLS alerts that a client can do something
// about.
var alerts = []struct{ says, remedy string }{
	{"tls: certificate required", "the server wants to know its clients: set Config.TLS.Certificates"},
	{"tls: bad certificate", "the server does not accept this client: correct Config.TLS.Certificates"},
	{"tls: unrecognized name", "the server has no certificate for this name: correct the URL, or set Config.TLS.ServerName"},
	{"tls: protocol version not supported", "set Config.TLS.MinVersion and MaxVersion to what the server speaks"},
	{"tls: no application protocol", "the server does not speak the HTTP that was offered: turn Config.HTTP2 on or off"},
	{"tls: handshake failure", "the server and this client have no version or cipher in common, or it wants a client certificate: set Config.TLS"},
}

// tlsCause is why there is no TLS with a server, and what to do; empty for
// another error. The two disagree where waiting would not help.
func tlsCause(err error) (words string, disagree bool) {
	var (
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		name      x509.HostnameError
		other     *tls.CertificateVerificationError
		plain     tls.RecordHeaderError
		handshake *handshakeError
	)
	switch {
	case errors.As(err, &authority):
		return untrusted(authority.Cert), true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return outOfTime(invalid.Cert, time.Now()), true
	case errors.As(err, &name):
		return strings.TrimPrefix(name.Error(), "x509: ") + ": use a name of the certificate in the URL, or set Config.TLS.ServerName to one", true
	case errors.As(err, &other):
		return err.Error() + ": set Config.TLS to trust it", true
	case errors.As(err, &plain):
		return useHTTP, true
	}
	for _, a := range alerts {
		if strings.Contains(err.Error(), "remote error: "+a.says) {
			return "remote error: " + a.says + ": " + a.remedy, true // whoever else has added words
		}
	}
	switch {
	case !errors.As(err, &handshake):
		return "", false
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("the server did not answer a TLS handshake within %v: use http:// in the URL if it does not speak TLS", tlsTimeout), false
	case brokenOff(err):
		return "the server broke the TLS handshake off (" + err.Error() + "): use http:// in the URL if it does not speak TLS", false
	}
	return "TLS handshake: " + err.Error() + ": use http:// in the URL if the server does not speak TLS", true
}

// askTLS bounds the question whether a server speaks TLS.
const askTLS = 2 * time.Second

// speaksTLS asks a server, once, whether it speaks TLS: many that do close a
// connection of plain HTTP without a word, as those of Python do. It is asked
// only where nothing has succeeded yet, so never beside a measurement, and only
// straight. Nothing is sent but the handshake's greeting.
func (e *Engine) speaksTLS(parent context.Context) bool {
	if e.route.Scheme != "http" || e.cfg.Dial != nil || e.cfg.Proxy != nil || e.settled.Load() {
		return false
	}
	e.asking.Do(func() {
		ctx, cancel := context.WithTimeout(parent, askTLS)
		defer cancel()
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", e.transport.address)
		if err != nil {
			return
		}
		defer c.Close()
		greeting := clientTLS(e.cfg.TLS, e.transport.address)
		greeting.InsecureSkipVerify = true // it is told of, and nothing is sent
		err = tls.Client(c, greeting).HandshakeContext(ctx)
		e.secure = err == nil || strings.Contains(err.Error(), "remote error: tls: ")
	})
	return e.secure
}

// untrusted is a certificate that no root vouches for.
func untrusted(c *x509.Certificate) string {
	const add = "to Config.TLS.RootCAs, or to this host's roots (SSL_CERT_FILE)"
	switch {
	case c == nil:
		return "the server's certificate is signed by nobody whom this host trusts: add its authority " + add
	case bytes.Equal(c.RawIssuer, c.RawSubject):
		return "the server's certificate is self-signed: add it " + add
	}
	return fmt.Sprintf("the server's certificate is signed by %q, whom this host does not trust: add that authority %s", c.Issuer.String(), add)
}

// outOfTime is a certificate that is not valid now.
func outOfTime(c *x509.Certificate, now time.Time) string {
	const day = time.DateOnly
	if now.Before(c.NotBefore) {
		return fmt.Sprintf("the server's certificate is valid from %s on, and here it is %s: correct this host's clock, or wait", c.NotBefore.UTC().Format(day), now.UTC().Format(day))
	}
	return fmt.Sprintf("the server's certificate expired on %s, and here it is %s: renew it on the server, or correct this host's clock", c.NotAfter.UTC().Format(day), now.UTC().Format(day))
}
