package nullserver

import (
	"context"
	"encoding/gob"
	"fmt"
	"net/http"
)

// Request is one request for a generation as the server saw it. Times are those
// of Now.
type Request struct {
	// ID is the request's x-request-id; empty is none.
	ID string
	// Asked is the number of tokens asked for; zero is not said.
	Asked int
	// Stream is true for a reply in events.
	Stream bool
	// Fresh is true for the first generation of a connection.
	Fresh bool
	// Arrival is when this host had the request, by the kernel's stamp of the
	// last of those bytes that were read first. That is when its first bytes
	// came, where they came in one segment, as the short requests of this
	// module's clients do. Of a longer one it is later, by the time between its
	// segments: the kernel keeps one stamp of segments that it has joined.
	Arrival int64
	// Sent is when each event, or the whole of a reply that is no stream, was
	// about to be written.
	Sent []int64
	// Whole is true when all of the reply was written.
	Whole bool

	kept bool
}

// keep puts a request that has ended, or is about to, into the journal.
func (s *Server) keep(r *Request, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Whole = whole
	if !r.kept {
		r.kept = true
		s.journal = append(s.journal, r)
	}
}

// take returns the requests that have ended since it was called before.
func (s *Server) take() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.journal))
	for i, r := range s.journal {
		out[i] = *r
	}
	s.journal = nil
	return out
}

// Read asks a server with Options.Journal at url for the requests that have
// ended since it was asked before, in the order in which they ended. A request
// is told of once.
func Read(ctx context.Context, url string) ([]Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/journal", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("read the server's journal: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the server's journal: status %s", resp.Status)
	}
	var out []Request
	if err := gob.NewDecoder(resp.Body).Decode(&out); err != nil {
		return nil, fmt.Errorf("read the server's journal: %w", err)
	}
	return out, nil
}
