//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// model is the name of the model that the server has.
const model = "peers-model"

// server answers as an engine with OpenAI's routes does, and computes nothing.
type server struct {
	first  time.Duration // from a request to its first event
	period time.Duration // between events
	sender *sender

	mu       sync.Mutex
	requests []*request
}

// serve is the server in a process of its own. It prints its address, serves
// until its input ends, writes its journal and exits.
func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	s := &server{sender: newSender()}
	rate := flags.Float64("rate", 50, "events/s of each stream")
	flags.DurationVar(&s.first, "first", 50*time.Millisecond, "from a request to its first event")
	journal := flags.String("journal", "", "file for the requests and their times, written at the end")
	flags.Parse(args)
	s.period = time.Duration(float64(time.Second) / *rate)
	l, err := listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		l.Close()
	}()
	go s.sender.run(s.period)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil {
			return err
		}
		go s.answer(c.(*net.TCPConn))
	}
	s.sender.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeJournal(*journal, s.requests)
}

// asked is what the server reads of a request's body.
type asked struct {
	MaxTokens           int  `json:"max_tokens"`
	MaxCompletionTokens int  `json:"max_completion_tokens"`
	Stream              bool `json:"stream"`
	StreamOptions       struct {
		IncludeUsage         bool `json:"include_usage"`
		ContinuousUsageStats bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
}

// answer serves the requests of one connection.
func (s *server) answer(c *net.TCPConn) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	from := &stamped{raw: raw}
	in := bufio.NewReaderSize(from, 16<<10)
	for fresh := true; ; fresh = false {
		from.first = 0
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Method != http.MethodPost {
			if s.get(c, r.URL.Path) != nil {
				return
			}
			continue
		}
		var ask asked
		if json.Unmarshal(body, &ask) != nil || r.URL.Path != "/v1/completions" {
			if reply(c, http.StatusNotFound, `{"error":{"message":"no such route","code":404}}`) != nil {
				return
			}
			continue
		}
		ask.MaxTokens = max(ask.MaxTokens, ask.MaxCompletionTokens, 1)
		q := &request{
			ID: r.Header.Get("X-Request-Id"), Path: r.URL.Path, Asked: ask.MaxTokens,
			Stream: ask.Stream, Arrival: from.first, Fresh: fresh,
		}
		s.mu.Lock()
		s.requests = append(s.requests, q)
		number := len(s.requests)
		s.mu.Unlock()
		if !ask.Stream {
			q.Sent = []int64{monotonic()}
			if reply(c, http.StatusOK, whole(number, ask.MaxTokens)) != nil {
				return
			}
			q.Whole = true
			continue
		}
		if _, err := io.WriteString(c, head); err != nil {
			return
		}
		st, err := newStream(c, raw, q, ask, number)
		if err != nil {
			return
		}
		st.due = q.Arrival + int64(s.first)
		if !s.sender.start(st) || <-st.ended != nil {
			return
		}
	}
}

// get answers what clients look at before they begin.
func (s *server) get(c net.Conn, path string) error {
	switch path {
	case "/health", "/ping":
		return reply(c, http.StatusOK, `{}`)
	case "/version":
		return reply(c, http.StatusOK, `{"version":"0"}`)
	case "/v1/models":
		return reply(c, http.StatusOK, `{"object":"list","data":[{"id":"`+model+`","object":"model","created":1764547200,"owned_by":"null","root":"`+model+`","max_model_len":8192}]}`)
	}
	return reply(c, http.StatusNotFound, `{"error":{"message":"no such route","code":404}}`)
}

func reply(c net.Conn, status int, body string) error {
	_, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
	return err
}
