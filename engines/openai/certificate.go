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
// straight. Nothing is sent but the handshake.
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
		greeting := greeting(e.cfg.TLS, e.transport.address)
		err = tls.Client(c, greeting).HandshakeContext(ctx)
		e.secure = err == nil || strings.Contains(err.Error(), "remote error: tls: ")
	})
	return e.secure
}

// greeting is the configuration for that handshake. Whoever is there is not
// verified, so nothing of what is configured for a server that is goes to it: no
// client certificate, no ticket of an earlier session. One that wants a
// certificate says so by an alert, which answers the question as well.
func greeting(cfg *tls.Config, addr string) *tls.Config {
	g := clientTLS(cfg, addr)
	g.InsecureSkipVerify = true
	g.Certificates, g.GetClientCertificate, g.ClientSessionCache = nil, nil, nil
	g.VerifyPeerCertificate, g.VerifyConnection = nil, nil
	return g
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
