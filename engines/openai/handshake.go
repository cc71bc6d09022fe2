package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
)

var errNotHTTP2 = errors.New("the server did not choose h2")

// handshake makes a connection one of TLS, with the protocol that is offered.
func handshake(ctx context.Context, c net.Conn, cfg *tls.Config, addr string, protocol string) (net.Conn, error) {
	offer := clientTLS(cfg, addr)
	offer.NextProtos = []string{protocol}
	s := tls.Client(c, offer)
	ctx, cancel := context.WithTimeout(ctx, tlsTimeout)
	defer cancel()
	err := s.HandshakeContext(ctx)
	if err == nil && protocol == "h2" && s.ConnectionState().NegotiatedProtocol != protocol {
		c.Close()
		return nil, errNotHTTP2
	}
	if err != nil {
		c.Close()
		return nil, &handshakeError{err}
	}
	return s, nil
}

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
