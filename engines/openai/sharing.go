package openai

import (
	"fmt"
	"sync"
)

// moved is what a reply says of a request for which its first connection had no
// stream left. It may have waited a second or more between: net/http lets the
// second repetition wait, and each further one for twice as long.
const moved = "HTTP/2: the connection had no stream left for the request, which was sent on another, or again"

// capped is what a reply says of a request that waited for a connection to be
// opened because no other had a stream left: how many the server allows on one.
const capped = "HTTP/2: the server allows %d streams at once on a connection (SETTINGS_MAX_CONCURRENT_STREAMS), so that the request had to wait for a further one"

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

// full is what a reply says of a request that waited for a connection beside
// others which had no stream left; empty where there was another reason.
func (s *sharing) full(waited *conn) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, on := range s.conns {
		if c != waited && on.most >= 0 && int64(on.now) >= on.most {
			return fmt.Sprintf(capped, on.most)
		}
	}
	return ""
}
