package nullserver

import (
	"encoding/json"
	"errors"
	"net"
	"sync"
)

// Server is a null server.
type Server struct {
	options Options
	// model and token are as they stand in JSON.
	model, token string
	senders      []*sender

	mu      sync.Mutex
	closed  bool
	conns   map[*net.TCPConn]bool
	replies uint64
	journal []*Request

	running sync.WaitGroup
}

// New makes a server of the options, which it validates.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.orDefaults()
	s := &Server{options: o, model: quoted(o.Model), token: quoted(o.Token), conns: map[*net.TCPConn]bool{}}
	for range o.Senders {
		s.senders = append(s.senders, newSender())
	}
	return s, nil
}

// quoted is a text as it stands in JSON.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string has no error
	return string(b)
}

// Serve answers on l, a TCP listener, until l is closed, ends all streams and
// returns.
func (s *Server) Serve(l net.Listener) error {
	for _, sender := range s.senders {
		s.running.Go(sender.run)
	}
	defer s.shut()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		conn := c.(*net.TCPConn)
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		s.running.Go(func() { s.answer(conn) })
	}
}

// shut ends all and waits for it. Connections are shut and not closed: a sender
// may be writing to their descriptors, and answer closes each once it has no
// stream.
func (s *Server) shut() {
	defer s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.conns {
		_, _ = c.CloseRead(), c.CloseWrite()
	}
	for _, sender := range s.senders {
		sender.stop()
	}
}
