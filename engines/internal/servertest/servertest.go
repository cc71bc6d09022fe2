// Package servertest is a stand-in for a server in the tests of the engine
// packages: it answers the OpenAI-style routes with two tokens, and any other
// route with what a test restates of a real server's documented reply.
package servertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// Reply is what a route answers.
type Reply struct {
	// Status is the HTTP status; zero is 200.
	Status int
	// Body is the body; it is JSON unless Type says otherwise.
	Body string
	// Type is the content type; empty is application/json.
	Type string
}

// JSON is a reply with status 200.
func JSON(body string) Reply { return Reply{Body: body} }

// Text is a reply of plain text.
func Text(status int, body string) Reply {
	return Reply{Status: status, Body: body, Type: "text/plain; charset=utf-8"}
}

// Server is an http.Handler.
type Server struct {
	// Owner and Models are what /v1/models says.
	Owner  string
	Models []string
	// Roots are the paths behind the models, by name; others are their own.
	Roots map[string]string
	// Key, when set, is the bearer token without which the reply is 401.
	Key string
	// Answers is the model that answers a completion; empty is the one asked.
	Answers string
	// Routes are replies by "METHOD /path", the last of them for ever. They
	// come before everything else, and "METHOD /v1/completions" with a status
	// of 200 is the usual stream.
	Routes map[string][]Reply

	mu   sync.Mutex
	seen []string
}

// Seen are the requests so far: "METHOD /path?query".
func (s *Server) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+r.URL.RequestURI())
	route := r.Method + " " + r.URL.Path
	reply, scripted := Reply{}, false
	if replies := s.Routes[route]; len(replies) > 0 {
		reply, scripted = replies[0], true
		if len(replies) > 1 {
			s.Routes[route] = replies[1:]
		}
	}
	s.mu.Unlock()

	switch {
	case s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key:
		write(w, Reply{Status: http.StatusUnauthorized, Body: `{"error":"Unauthorized"}`})
	case scripted && (reply.Status != 0 || reply.Body != ""):
		write(w, reply)
	case route == "GET /health":
		w.WriteHeader(http.StatusOK)
	case route == "GET /v1/models":
		write(w, JSON(s.models()))
	case route == "POST /v1/completions", route == "POST /v1/chat/completions":
		s.stream(w, r)
	default:
		write(w, Reply{Status: http.StatusNotFound, Body: `{"detail":"Not Found"}`})
	}
}

func write(w http.ResponseWriter, reply Reply) {
	kind := reply.Type
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	_, _ = w.Write([]byte(reply.Body))
}

func (s *Server) models() string {
	type card struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		OwnedBy string `json:"owned_by,omitempty"`
		Root    string `json:"root"`
	}
	cards := []card{}
	for _, m := range s.Models {
		root := s.Roots[m]
		if root == "" {
			root = m
		}
		cards = append(cards, card{m, "model", s.Owner, root})
	}
	b, _ := json.Marshal(map[string]any{"object": "list", "data": cards})
	return string(b)
}

// stream sends two tokens, the usage and the end.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Model string `json:"model"`
	}
	if json.NewDecoder(r.Body).Decode(&ask) != nil {
		write(w, Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":"no JSON"}}`})
		return
	}
	if s.Answers != "" {
		ask.Model = s.Answers
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	model, _ := json.Marshal(ask.Model)
	content := `"text":"a"`
	if r.URL.Path == "/v1/chat/completions" {
		content = `"delta":{"content":"a"}`
	}
	for i, finish := range []string{"null", `"length"`} {
		fmt.Fprintf(w, `data: {"id":"1","model":%s,"choices":[{"index":0,%s,"finish_reason":%s}],"usage":{"prompt_tokens":8,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n",
			model, content, finish, i+1, i+9)
	}
	fmt.Fprintf(w, `data: {"id":"1","model":%s,"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}`+"\n\ndata: [DONE]\n\n", model)
}
