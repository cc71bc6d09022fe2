//go:build linux

package nullserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"sync"
)

// Server is a null server. Every request, whatever its method and path, is
// answered with a stream; GET /v1/models with a list of one model.
type Server struct {
	options Options
	end     []byte

	mu      sync.Mutex
	fresh   []*stream // not yet taken by the sender
	wake    chan struct{}
	closed  bool
	conns   map[*net.TCPConn]bool
	streams uint64
	times   map[string][]int64

	running sync.WaitGroup
}

// New makes a server of the options, which it validates.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Server{
		options: o, end: ending(), wake: make(chan struct{}, 1),
		conns: map[*net.TCPConn]bool{}, times: map[string][]int64{},
	}, nil
}

// Log is the send times of each stream whose end has been sent, in nanoseconds of
// CLOCK_MONOTONIC, by the request's x-request-id.
func (s *Server) Log() map[string][]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := make(map[string][]int64, len(s.times))
	for id, times := range s.times {
		log[id] = times
	}
	return log
}

// Serve answers on l until l is closed, ends all streams and returns.
func (s *Server) Serve(l net.Listener) error {
	s.running.Go(s.send)
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

// shut ends all and waits for it. Connections are shut and not closed: the
// sender may be writing to their descriptors, and answer closes each once it
// has no stream.
func (s *Server) shut() {
	defer s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.conns {
		_, _ = c.CloseRead(), c.CloseWrite()
	}
	s.rouse()
}

// rouse wakes the sender where it waits for its first stream. s.mu is held.
func (s *Server) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// answer serves the requests of one connection.
func (s *Server) answer(c *net.TCPConn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	fd := -1
	if raw.Control(func(n uintptr) { fd = int(n) }) != nil {
		return
	}
	for in := bufio.NewReaderSize(c, 4<<10); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.URL.Path == "/v1/models" {
			const models = `{"object":"list","data":[{"id":"null","object":"model"}]}`
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(models), models)
			continue
		}
		last := s.options.Close || r.Close
		begin := head
		if last {
			begin += "Connection: close\r\n"
		}
		if _, err := io.WriteString(c, begin+"\r\n"); err != nil {
			return
		}
		// The sender writes to the descriptor itself: this goroutine holds the
		// connection open meanwhile.
		st := &stream{fd: fd, id: r.Header.Get("X-Request-Id"), ended: make(chan error, 1)}
		if !s.start(st) || <-st.ended != nil || last {
			return
		}
	}
}

// start hands a stream to the sender; false when the server has been closed.
func (s *Server) start(st *stream) bool {
	now, o := Now(), &s.options
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.streams++
	st.event = newEvent(s.streams)
	period := o.period()
	st.next = now + int64(o.First)
	if o.First == 0 {
		st.next = now + period
	}
	if period > 0 {
		phase := 0.0
		if !o.Step {
			_, phase = math.Modf(float64(s.streams) * math.Phi)
		}
		st.next += period - 1
		st.next -= st.next%period - int64(phase*float64(period))
	}
	st.due = st.next
	if o.Logged && st.id != "" {
		st.times = make([]int64, 0, o.Events)
	}
	s.fresh = append(s.fresh, st)
	s.rouse()
	return true
}

// send is the thread that sends for all streams.
func (s *Server) send() {
	runtime.LockOSThread()
	sharpen()
	const look = int64(1e6) // how often new streams are looked for, at least
	var q queue
	for {
		if len(q) == 0 {
			<-s.wake
		}
		s.mu.Lock()
		for _, st := range s.fresh {
			q.push(st)
		}
		s.fresh = s.fresh[:0]
		closed := s.closed
		s.mu.Unlock()
		if closed {
			for _, st := range q {
				st.ended <- net.ErrClosed
			}
			return
		}
		for until := Now() + look; len(q) > 0; {
			now, first := Now(), q[0]
			if now >= until {
				break
			}
			if first.due > now {
				sleepUntil(min(first.due, until))
				continue
			}
			if first.sent == s.options.Events {
				s.log(first) // before the client can see the end
			}
			over, err := first.step(&s.options, s.end, now)
			if !over && err == nil {
				q.fix()
				continue
			}
			q.pop()
			first.ended <- err
		}
	}
}

// log keeps the send times of a stream that has no more events.
func (s *Server) log(st *stream) {
	if len(st.times) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[st.id] = st.times
}
