package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// moved is what a reply says of a request for which its first connection had no
// stream left.
const moved = "HTTP/2: the connection had no stream left for the request, which was sent on another, or again"

// capped is what a reply says of a request that opened a connection because no
// other had a stream left: how many the server allows on one.
const capped = "HTTP/2: the server allows %d streams at once on a connection (SETTINGS_MAX_CONCURRENT_STREAMS), so that the request had to open a further one"

var errNotHTTP2 = errors.New("the server did not choose h2")

// again lets net/http have the body of a request a second time.
//
// Over HTTP/2 it needs that where the connection that it chose has no stream
// left by then, or the server gives the request back unbegun (REFUSED_STREAM,
// GOAWAY). It may wait a second before it tries again, so the reply says so.
//
// Over HTTP/1.1 it then sends a request anew where nothing was written on a
// connection that had been kept, and the reply says so too. It would also send
// one anew of which something was written if a header vouches for that, so that a
// request with such a header is sent once.
func (e *Engine) again(req *http.Request) *http.Request {
	if !e.cfg.HTTP2 && vouched(req.Header) {
		return req
	}
	all, _ := io.ReadAll(req.Body) // of a buffer
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(all)), nil }
	req.Body, _ = body()
	req.GetBody = body
	return req
}

// vouched reports a header for which net/http takes a POST for one that may be
// sent twice.
func vouched(h http.Header) bool {
	return h["Idempotency-Key"] != nil || h["X-Idempotency-Key"] != nil
}

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

// settings is what a server begins an HTTP/2 connection with (RFC 9113, sections
// 3.4 and 6.5), as it comes.
type settings struct {
	begun []byte
	told  bool // it has come, or something else has
}

const (
	frameHead       = 9
	settingsFrame   = 4
	maxStreams      = 3
	settingsLength  = 6
	longestSettings = 1 << 14
)

// take takes what came next. It returns how many streams the server allows at
// once, if that is what it tells now.
func (s *settings) take(b []byte) (most int64, tells bool) {
	s.begun = append(s.begun, b...)
	if len(s.begun) < frameHead {
		return 0, false
	}
	n := int(s.begun[0])<<16 | int(s.begun[1])<<8 | int(s.begun[2])
	if s.begun[3] != settingsFrame || n > longestSettings {
		s.told, s.begun = true, nil
		return 0, false
	}
	if len(s.begun) < frameHead+n {
		return 0, false
	}
	for b := s.begun[frameHead : frameHead+n]; len(b) >= settingsLength; b = b[settingsLength:] {
		if binary.BigEndian.Uint16(b) == maxStreams {
			most, tells = int64(binary.BigEndian.Uint32(b[2:])), true
		}
	}
	s.told, s.begun = true, nil
	return most, tells
}

// sharer is what is known of the streams on one HTTP/2 connection.
type sharer struct {
	most int64 // allowed at once; -1 is not told
	now  int
}

// sharing is the HTTP/2 connections that are open, and what is on them.
type sharing struct {
	mu    sync.Mutex
	conns map[*conn]*sharer
}

// add notes a new connection.
func (s *sharing) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns = map[*conn]*sharer{}
	}
	s.conns[c] = &sharer{most: -1}
}

// gone forgets a connection that is closed.
func (s *sharing) gone(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// allow notes how many streams a connection may have at once.
func (s *sharing) allow(c *conn, most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on := s.conns[c]; on != nil {
		on.most = most
	}
}

// count adds a request to a connection, or takes one from it.
func (s *sharing) count(c *conn, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on := s.conns[c]; on != nil {
		on.now += n
	}
}

// full is what a reply says of a connection that had to be opened beside others
// which had no stream left; empty where there was another reason.
func (s *sharing) full(opened *conn) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, on := range s.conns {
		if c != opened && on.most >= 0 && int64(on.now) >= on.most {
			return fmt.Sprintf(capped, on.most)
		}
	}
	return ""
}
