package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// idle is the server of a calibration: it reads a request and sends as many
// events as tokens were asked for, one to each stream in every round.
type idle struct {
	listener net.Listener
	streams  chan *idleStream
	sent     chan struct{}
	// spent is the CPU time of the thread that sends.
	spent atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
	all   sync.WaitGroup
}

// idleStream is a stream that has so many events left to send.
type idleStream struct {
	conn net.Conn
	left int
	done chan struct{}
}

// The parts of an answer: events of vLLM's shape, about 260 bytes each.
var (
	idleHead  = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	idleEvent = idleChunk(`{"id":"cmpl-0123456789abcdef","object":"text_completion","created":1764547200,"model":"null",` +
		`"choices":[{"index":0,"text":" token","logprobs":null,"finish_reason":null}],` +
		`"usage":{"prompt_tokens":128,"total_tokens":160,"completion_tokens":32}}`)
	idleEnd = append(append(idleChunk(`{"object":"text_completion","model":"null","choices":[{"index":0,"text":"","finish_reason":"length"}]}`),
		idleChunk("[DONE]")...), "0\r\n\r\n"...)
)

func idleChunk(data string) []byte {
	data = "data: " + data + "\n\n"
	return fmt.Appendf(nil, "%x\r\n%s\r\n", len(data), data)
}

// newIdle starts a server; failed is told why it takes no more connections.
func newIdle(l net.Listener, failed func(error)) *idle {
	s := &idle{listener: l, streams: make(chan *idleStream, calibrateStreams), sent: make(chan struct{})}
	go s.sender()
	go func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				failed(err)
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			s.all.Go(func() { s.answer(c) })
		}
	}()
	return s
}

// answer serves the requests of one connection. A single event is sent here, in
// one write with all that goes round it; the sender has the rest.
func (s *idle) answer(c net.Conn) {
	defer c.Close()
	short := bytes.Join([][]byte{idleHead, idleEvent, idleEnd}, nil)
	for in := bufio.NewReader(c); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		events := 1
		if _, after, found := strings.Cut(string(body), `"max_tokens":`); found {
			fmt.Sscan(strings.FieldsFunc(after, func(r rune) bool { return r < '0' || r > '9' })[0], &events)
		}
		if events == 1 {
			if _, err := c.Write(short); err != nil {
				return
			}
			continue
		}
		if _, err := c.Write(idleHead); err != nil {
			return
		}
		st := &idleStream{conn: c, left: events, done: make(chan struct{})}
		s.streams <- st
		<-st.done
	}
}

// round sends one event to each stream and returns those that have more.
func (s *idle) round(streams []*idleStream) []*idleStream {
	more := streams[:0]
	for _, st := range streams {
		_, err := st.conn.Write(idleEvent)
		if st.left--; st.left > 0 && err == nil {
			more = append(more, st)
			continue
		}
		_, _ = st.conn.Write(idleEnd)
		close(st.done)
	}
	return more
}

// sending is the CPU time that the sender has spent.
func (s *idle) sending() time.Duration { return time.Duration(s.spent.Load()) }

// close ends the server and all that it started.
func (s *idle) close() {
	s.listener.Close()
	s.mu.Lock()
	for _, c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
	close(s.streams)
	<-s.sent
}
