package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// server is a tiny OpenAI-style server: it answers with as many tokens as
// asked, a running count of them, and a few other routes.
func server() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"id":"tiny","root":"org/tiny","max_model_len":4096}]}`)
	})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"version":"1.2.3"}`)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "tokens_total{engine=\"0\"} 40\ntokens_total{engine=\"1\"} 2\n")
	})
	mux.HandleFunc("POST /flush", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not idle", http.StatusBadRequest)
	})
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, `data: {"model":"tiny","choices":[{"text":" a"}],"usage":{"prompt_tokens":4,"completion_tokens":%d}}`+"\n\n", i+1)
		}
		fmt.Fprint(w, `data: {"choices":[{"text":"","finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	})
	return httptest.NewServer(mux)
}

func attach(url string) *openai.Engine {
	engine, err := openai.Attach(context.Background(), openai.Config{URL: url})
	if err != nil {
		log.Fatal(err)
	}
	return engine
}

func ExampleAttach() {
	s := server()
	defer s.Close()

	engine, err := openai.Attach(context.Background(), openai.Config{URL: s.URL})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	fmt.Println("attached to", engine.Model())

	_, err = openai.Attach(context.Background(), openai.Config{URL: s.URL, Model: "large"})
	fmt.Println(strings.ReplaceAll(err.Error(), s.URL, "URL"))
	// Output:
	// attached to tiny
	// attach to URL: model "large" is not served: the server serves "tiny"
}

func ExampleNew() {
	_, err := openai.New(openai.Config{URL: "localhost:8000", Silence: -time.Second})
	fmt.Println(err)
	// Output:
	// openai: Config.Silence must not be negative, got -1s
	// openai: Config.URL must be http://HOST:PORT or https://HOST, got "localhost:8000"
}

func ExampleEngine_Generate() {
	s := server()
	defer s.Close()
	engine := attach(s.URL)
	defer engine.Close()

	origin := time.Now()
	request := &engines.Request{
		ID: "request-1", Tokens: []int32{11, 12, 13, 14}, MaxTokens: 3, MinTokens: 3, IgnoreEOS: true,
		Stamp: func() time.Duration { return time.Since(origin) },
	}
	reply, err := engine.Generate(context.Background(), request, func(c engines.Chunk) {
		if c.Token {
			fmt.Println("an event of", c.Tokens.N, "token")
		}
	})
	fmt.Println(reply.PromptTokens.N, "in,", reply.OutputTokens.N, "out,", reply.Finish, err)
	// Output:
	// an event of 1 token
	// an event of 1 token
	// an event of 1 token
	// 4 in, 3 out, length <nil>
}

func ExampleEngine_Generate_failure() {
	engine, err := openai.New(openai.Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = engine.Generate(context.Background(), &engines.Request{Text: "Hello", MaxTokens: 8}, func(engines.Chunk) {})
	var failure *engines.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Class)
		fmt.Println(failure)
	}
	// Output:
	// unreachable
	// http://127.0.0.1:1: POST /v1/completions: connection refused: start the server or correct the URL
}

func ExampleEngine_Describe() {
	s := server()
	defer s.Close()
	engine := attach(s.URL)
	defer engine.Close()
	identity, err := engine.Describe(context.Background())
	fmt.Println(identity.Engine, identity.Version, identity.Model, identity.Settings["root"], err)
	// Output: openai 1.2.3 tiny org/tiny <nil>
}

func ExampleEngine_Models() {
	s := server()
	defer s.Close()
	engine := attach(s.URL)
	defer engine.Close()
	models, err := engine.Models(context.Background())
	fmt.Println(len(models), models[0].ID, models[0].Root, models[0].MaxLen.N, err)
	// Output: 1 tiny org/tiny 4096 <nil>
}

func ExampleEngine_Do() {
	s := server()
	defer s.Close()
	engine := attach(s.URL)
	defer engine.Close()
	answer, err := engine.Do(context.Background(), http.MethodPost, "/flush?timeout=5", nil)
	fmt.Printf("%d %s%v\n", answer.Status, answer.Body, err)
	// Output:
	// 400 not idle
	// <nil>
}

func ExampleEngine_JSON() {
	s := server()
	defer s.Close()
	engine := attach(s.URL)
	defer engine.Close()
	var version struct{ Version string }
	err := engine.JSON(context.Background(), http.MethodGet, "/version", nil, &version)
	fmt.Println(version.Version, err)
	// Output: 1.2.3 <nil>
}

func ExampleEngine_Page() {
	s := server()
	defer s.Close()
	engine := attach(s.URL)
	defer engine.Close()
	page, err := engine.Page(context.Background(), "/metrics")
	fmt.Println(page.Count("tokens"), page.Count("preemptions"), err)
	// Output: {42 true} {0 false} <nil>
}

func ExampleEngine_String() {
	engine, err := openai.New(openai.Config{URL: "http://user:password@host/v1", APIKey: "sk-secret"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(engine)
	fmt.Printf("%#v\n", engine)
	// Output:
	// openai at http://host
	// &openai.Engine{openai at http://host}
}

func ExampleEngine_Connections() {
	s := server()
	defer s.Close()
	engine := attach(s.URL)
	defer engine.Close()
	for range 10 {
		if _, err := engine.Models(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(engine.Connections(), "connection to", strings.ReplaceAll(engine.URL(), s.URL, "URL"))
	// Output: 1 connection to URL
}

func ExampleEngine_Warm() {
	s := server()
	defer s.Close()
	engine, err := openai.New(openai.Config{URL: s.URL})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if err := engine.Warm(context.Background(), 8); err != nil {
		log.Fatal(err)
	}
	reply, err := engine.Generate(context.Background(), &engines.Request{Text: "Hi", MaxTokens: 2}, func(engines.Chunk) {})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(engine.Connections(), "connections, a new one for the request:", reply.NewConnection)
	// Output: 8 connections, a new one for the request: false
}

func ExampleParsePage() {
	page, err := openai.ParsePage(strings.NewReader(`
latency_seconds_sum{engine="0"} 1.5
latency_seconds_sum{engine="1"} 2
usage{engine="0",block="16"} 0.25
`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Sum("latency_seconds_sum"))
	fmt.Println(page.Sum("load", "usage"))
	fmt.Println(page.Count("load"))
	fmt.Println(page.Labels("usage"))
	// Output:
	// 3.5 true
	// 0.25 true
	// {0 false}
	// [map[block:16 engine:0]]
}

func ExampleConfig_String() {
	cfg := openai.Config{URL: "https://user:password@host/v1", APIKey: "sk-secret", Model: "tiny", Chat: true}
	fmt.Println(cfg)
	fmt.Printf("%#v\n", cfg)
	fmt.Println(cfg.LogValue())
	// Output:
	// openai at https://host/v1, /v1/chat/completions, model tiny
	// openai.Config{openai at https://host/v1, /v1/chat/completions, model tiny}
	// openai at https://host/v1, /v1/chat/completions, model tiny
}
