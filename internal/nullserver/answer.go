package nullserver

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"
)

// answer serves the requests of one connection.
func (s *Server) answer(c *net.TCPConn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	from, err := newInput(c)
	if err != nil {
		return
	}
	out, err := newOutput(c)
	if err != nil {
		return
	}
	in := bufio.NewReaderSize(from, 4<<10)
	for fresh := true; ; {
		from.first = 0
		a, err := readAsk(in)
		if err != nil {
			return
		}
		last := s.options.Close || a.close
		if a.path != "/v1/completions" || a.method != http.MethodPost {
			if a.path != "/events" || a.method != http.MethodGet {
				if s.page(c, a, last) != nil || last {
					return
				}
				continue
			}
			a.stream = true
		}
		if a.arrival = from.first; a.arrival == 0 { // it came with the request before
			a.arrival = Now()
		}
		if s.generate(c, out, a, fresh, last) != nil || last {
			return
		}
		fresh = false
	}
}

// generate answers a request for a generation.
func (s *Server) generate(c net.Conn, out output, a ask, fresh, last bool) error {
	o := &s.options
	r := reply{model: s.model, token: s.token, prompt: o.Prompt, running: o.Usage || a.running}
	if r.prompt == 0 {
		if r.prompt = a.prompt; r.prompt == 0 {
			r.prompt = textPrompt
		}
	}
	tokens := o.Events
	if tokens == 0 {
		tokens = max(a.tokens, 1)
	}
	var request *Request
	if o.Journal {
		request = &Request{ID: a.id, Asked: a.tokens, Stream: a.stream, Arrival: a.arrival, Fresh: fresh}
	}
	s.mu.Lock()
	s.replies++
	r.number = s.replies
	s.mu.Unlock()
	err := s.send(c, out, a, r, tokens, request, last)
	if request != nil && (err != nil || !request.kept) {
		s.keep(request, false)
	}
	return err
}

// textPrompt is the length of a prompt that is text.
const textPrompt = 16

// send writes the reply and returns when all of it is written.
func (s *Server) send(c net.Conn, out output, a ask, r reply, tokens int, request *Request, last bool) error {
	if !a.stream {
		if request != nil {
			request.Sent = []int64{Now()}
			s.keep(request, true)
		}
		return page(c, http.StatusOK, r.whole(tokens), last)
	}
	o := &s.options
	st := &stream{
		out: out, reply: r, tokens: tokens, batch: 1, usage: a.usage,
		request: request, keep: s.keep, ended: make(chan error, 1),
	}
	if request != nil {
		request.Sent = make([]int64, 0, tokens)
	}
	if tokens > 1 { // the last one is made when it is due
		st.event = newEvent(&st.reply, false)
	}
	rate := o.Rate
	if a.rate >= 0 {
		rate = a.rate
	}
	first := int64(o.First)
	if rate == 0 {
		st.batch = tokens
	} else if st.period = int64(min(float64(time.Second)/rate, 1<<60)); first == 0 {
		first = st.period
	}
	st.next = s.grid(a.arrival+first, st.period, r.number)
	st.due = st.next
	begin := head
	if last {
		begin += "Connection: close\r\n"
	}
	begin += "\r\n"
	if rate == 0 && first == 0 {
		// The head and all events in one write.
		st.left = append(st.left, begin...)
		now := Now()
		st.fill(tokens, now)
		if err := st.flush(now); err != nil || len(st.left) == 0 {
			return err
		}
	} else if _, err := c.Write([]byte(begin)); err != nil {
		return err
	}
	if !s.senders[r.number%uint64(len(s.senders))].start(st) {
		return net.ErrClosed
	}
	return <-st.ended
}

// grid is the first time from at on that is on the grid of stream number n.
func (s *Server) grid(at, period int64, n uint64) int64 {
	if period == 0 || !s.options.Step && !s.options.Spread {
		return at
	}
	phase := 0.0
	if s.options.Spread {
		_, phase = math.Modf(float64(n) * math.Phi)
	}
	at += period - 1
	return at - at%period + int64(phase*float64(period))
}

// page answers what is no generation.
func (s *Server) page(c net.Conn, a ask, last bool) error {
	if a.method != http.MethodGet {
		return page(c, http.StatusNotFound, noRoute, last)
	}
	path, _, _ := strings.Cut(a.path, "?")
	switch path {
	case "/health", "/ping":
		return page(c, http.StatusOK, `{}`, last)
	case "/version":
		return page(c, http.StatusOK, `{"version":"0"}`, last)
	case "/v1/models":
		return page(c, http.StatusOK, fmt.Sprintf(`{"object":"list","data":[{"id":%[1]s,"object":"model","created":1764547200,`+
			`"owned_by":"null","root":%[1]s,"max_model_len":8192}]}`, s.model), last)
	case "/journal":
		var text bytes.Buffer
		if err := gob.NewEncoder(&text).Encode(s.take()); err != nil {
			return err
		}
		return page(c, http.StatusOK, text.String(), last)
	}
	return page(c, http.StatusNotFound, noRoute, last)
}

const noRoute = `{"error":{"message":"no such route","code":404}}`

func page(c net.Conn, status int, body string, last bool) error {
	closes := ""
	if last {
		closes = "Connection: close\r\n"
	}
	_, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), closes, len(body), body)
	return err
}
