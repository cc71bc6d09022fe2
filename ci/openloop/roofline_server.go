package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// nullServer streams events of vLLM's shape and computes nothing, so that what
// a client can do against it is what this host can offer and read. A request to
// /RATE/v1/completions gets an event for each of its max_tokens, RATE of them a
// second; a rate of 0 sends all in one write. It keeps when it sent each event,
// by request, for GET /sent.
type nullServer struct {
	mu    sync.Mutex
	fresh []*nullStream
	wake  chan struct{}
	sent  map[string][]int64
}

// The parts of an answer.
var (
	nullHead  = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
	nullEvent = nullChunk(`{"id":"cmpl-0123456789abcdef0123456789abcdef","object":"text_completion","created":1764547200,` +
		`"model":"null","choices":[{"index":0,"text":" token","logprobs":null,"finish_reason":null,"stop_reason":null,` +
		`"prompt_token_ids":null}],"usage":null}`)
)

// nullEnd is what follows the last of n events.
func nullEnd(n int) []byte {
	return bytes.Join([][]byte{
		nullChunk(`{"object":"text_completion","model":"null","choices":[{"index":0,"text":"","finish_reason":"length"}]}`),
		nullChunk(fmt.Sprintf(`{"object":"text_completion","model":"null","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`,
			nullPrompt, n, nullPrompt+n)),
		nullChunk("[DONE]"), []byte("0\r\n\r\n"),
	}, nil)
}

// nullPrompt is the length that it takes all prompts for.
const nullPrompt = 16

func nullChunk(data string) []byte {
	data = "data: " + data + "\n\n"
	return fmt.Appendf(nil, "%x\r\n%s\r\n", len(data), data)
}

func newNullServer() *nullServer {
	return &nullServer{wake: make(chan struct{}, 1), sent: map[string][]int64{}}
}

// serve answers on l until it is closed.
func (s *nullServer) serve(l net.Listener) error {
	quit := make(chan struct{})
	defer close(quit)
	go s.send(quit)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go s.answer(c)
	}
}

// nullRequest is what the server needs of a request.
type nullRequest struct {
	path, id string
	tokens   int
}

// answer serves the requests of one connection.
func (s *nullServer) answer(c net.Conn) {
	defer c.Close()
	for in := bufio.NewReaderSize(c, 2<<10); ; {
		r, err := readNull(in)
		if err != nil {
			return
		}
		if r.path == "/sent" {
			if s.writeSent(c) != nil {
				return
			}
			continue
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/"), "/")
		rate, err := strconv.ParseFloat(first, 64)
		if err != nil || r.tokens == 0 {
			fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if rate == 0 || strings.Contains(r.id, "-ready") { // the driver's first look at an engine need not wait
			now := time.Now().UnixNano()
			all := append(append(bytes.Clone(nullHead), bytes.Repeat(nullEvent, r.tokens)...), nullEnd(r.tokens)...)
			s.keep(r.id, []int64{now}) // before the client can ask for it
			if _, err := c.Write(all); err != nil {
				return
			}
			continue
		}
		if _, err := c.Write(nullHead); err != nil {
			return
		}
		st := &nullStream{conn: c, id: r.id, left: r.tokens, every: time.Duration(float64(time.Second) / rate), done: make(chan struct{})}
		st.due = time.Now().Add(st.every)
		st.sent = make([]int64, 0, r.tokens)
		s.mu.Lock()
		s.fresh = append(s.fresh, st)
		s.mu.Unlock()
		select {
		case s.wake <- struct{}{}:
		default:
		}
		<-st.done
	}
}

// readNull reads one request, and no more of it than is needed.
func readNull(in *bufio.Reader) (r nullRequest, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return r, err
	}
	if words := bytes.Fields(line); len(words) == 3 {
		r.path = string(words[1])
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return r, err
		}
		key, value, found := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		switch {
		case len(key) == 0:
			body := make([]byte, length)
			if _, err := io.ReadFull(in, body); err != nil {
				return r, err
			}
			r.tokens = maxTokens(body)
			return r, nil
		case found && bytes.EqualFold(key, []byte("content-length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 || length > 1<<20 {
				return r, fmt.Errorf("a body of %q bytes", value)
			}
		case found && bytes.EqualFold(key, []byte("x-request-id")):
			r.id = string(bytes.TrimSpace(value))
		}
	}
}

// maxTokens is the field max_tokens of a request's JSON, 0 where there is none.
func maxTokens(body []byte) int {
	_, after, _ := bytes.Cut(body, []byte(`"max_tokens":`))
	after = bytes.TrimLeft(after, " ")
	digits := 0
	for digits < len(after) && after[digits] >= '0' && after[digits] <= '9' {
		digits++
	}
	n, _ := strconv.Atoi(string(after[:digits]))
	return min(n, 1<<20)
}

// keep remembers when a request's events were sent.
func (s *nullServer) keep(id string, sent []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[id] = sent
}

// writeSent answers with the times of all requests since it was asked before,
// in nanoseconds since 1970, a request a line.
func (s *nullServer) writeSent(c net.Conn) error {
	s.mu.Lock()
	sent := s.sent
	s.sent = map[string][]int64{}
	s.mu.Unlock()
	var body bytes.Buffer
	for id, times := range sent {
		body.WriteString(id)
		for _, t := range times {
			body.WriteByte(' ')
			body.Write(strconv.AppendInt(nil, t, 10))
		}
		body.WriteByte('\n')
	}
	_, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", body.Len(), body.Bytes())
	return err
}
