package openai

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	// idleTimeout closes idle connections before servers do: uvicorn, and so
	// vLLM and SGLang, and cpp-httplib, and so llama.cpp, close theirs after
	// five seconds, and a request sent into that moment is lost.
	idleTimeout = 4 * time.Second
	dialTimeout = 30 * time.Second
	tlsTimeout  = 10 * time.Second
)

// transport is one pool of HTTP/1.1 connections, without caps, compression,
// environment proxy or retries.
//
// net/http replays a request on its own in two cases: nothing was written yet
// and GetBody is set, or the method is idempotent (or an Idempotency-Key header
// says so) and the body can be had again. A generation has GetBody where it has
// no such header (see again), so that of two only one was written. A GET may be
// sent again on a fresh connection; none is measured.
type transport struct {
	*http.Transport
	// fresh is the same without a pool.
	fresh *http.Transport
	// dial is Config.Dial or its default; see open.
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	habit  habit
	opened atomic.Int64
	// ahead are connections to address that no request has used yet; secure
	// says that they are TLS.
	ahead   ahead
	address string
	secure  bool
	// sharing is nil where each connection carries one request at a time.
	sharing *sharing
}

// stream is the transport for a generation.
func (t *transport) stream(fresh bool) *http.Transport {
	if fresh || t.habit.closes.Load() {
		return t.fresh
	}
	return t.Transport
}

func newTransport(cfg *Config, to *url.URL) *transport {
	t := &transport{dial: cfg.Dial, habit: habit{seen: make(chan struct{})}, address: address(to), secure: to.Scheme == "https"}
	if t.dial == nil {
		t.dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	protocol := "http/1.1"
	if cfg.HTTP2 {
		protocol, t.sharing = "h2", &sharing{}
	}
	t.Transport = &http.Transport{
		Proxy: cfg.Proxy,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if c := t.early(ctx, addr); c != nil {
				return c, nil
			}
			c, slow, err := t.open(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return t.stamps(c, slow), nil
		},
		// Stamps are taken above TLS: a record that cannot be decrypted yet is
		// not readable.
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if c := t.early(ctx, addr); c != nil {
				return c, nil
			}
			c, slow, err := t.open(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			s, err := handshake(ctx, c, cfg.TLS, addr, protocol)
			if err != nil {
				return nil, err
			}
			return t.stamps(s, slow), nil
		},
		// Behind a proxy, where DialTLSContext is not asked.
		TLSClientConfig:     clientTLS(cfg.TLS, ""),
		TLSHandshakeTimeout: tlsTimeout,
		DisableCompression:  true,
		MaxIdleConnsPerHost: math.MaxInt32,
		IdleConnTimeout:     idleTimeout,
		Protocols:           new(http.Protocols),

		MaxResponseHeaderBytes: headLimit,
	}
	if cfg.HTTP2 {
		// net/http takes a connection that it does not know to be TLS for one of
		// HTTP/2 with prior knowledge, which it is.
		t.TLSClientConfig.NextProtos = []string{protocol}
		t.Protocols.SetHTTP2(true)
		t.Protocols.SetUnencryptedHTTP2(true)
	} else {
		t.Protocols.SetHTTP1(true)
	}
	t.fresh = t.Clone()
	t.fresh.DisableKeepAlives = true
	return t
}

// stamps is a connection that stamps; slow is of its name's look-up (see open).
func (t *transport) stamps(c net.Conn, slow string) *conn {
	s := &conn{Conn: c, slow: slow, opened: time.Now(), shared: t.sharing, stay: stay{habit: &t.habit}}
	if s.shared != nil {
		s.shared.add(s)
	}
	return s
}

// address is the host and port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// clientTLS is the configuration for a server, by its address; it offers
// HTTP/1.1 only.
func clientTLS(cfg *tls.Config, addr string) *tls.Config {
	if cfg == nil {
		cfg = &tls.Config{}
	}
	cfg = cfg.Clone()
	cfg.NextProtos = []string{"http/1.1"}
	if cfg.ServerName == "" && addr != "" {
		if host, _, err := net.SplitHostPort(addr); err == nil {
			cfg.ServerName = host
		}
	}
	return cfg
}
