package llamacpp_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/llamacpp"
)

// A test starts its own server; with OPENLOOP_LLAMACPP_URL set it attaches to
// that one instead.
func ExampleStart() {
	var t *testing.T // the test's
	engine := llamacpp.Start(t, llamacpp.Config{
		Model: "/models/gemma-3-270m-q4_k_m.gguf", Threads: 8, Parallel: 4, ContextSize: 4 * 4096,
	})
	_ = engine // for benchtest.Measure
}

// A program that is no test ends the server itself.
func ExampleLaunch() {
	ctx := context.Background()
	engine, stop, err := llamacpp.Launch(ctx, llamacpp.Config{
		Model: "/models/llama.gguf", Command: []string{"/opt/llama.cpp/llama-server"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx)
	if server, started := engine.(*llamacpp.Server); started {
		fmt.Println(server.LogFile(), server.Restart(ctx))
	}
}

// serve stands for a llama-server that somebody else has started.
func serve() (url string, stop func()) {
	h := httptest.NewServer(&servertest.Server{Owner: "llamacpp", Models: []string{"gemma-3"},
		Routes: map[string][]servertest.Reply{
			"GET /props":    {servertest.JSON(props)},
			"GET /metrics":  {{Body: page, Type: "text/plain"}},
			"POST /slots/0": {{Status: 501, Body: noActions}},
		}})
	return h.URL, h.Close
}

func ExampleAttach() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()
	engine, err := llamacpp.Attach(ctx, llamacpp.Config{URL: url, Hardware: "8 cores AMD EPYC"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	id, err := engine.Describe(ctx)
	fmt.Println(id.Engine, id.Version, id.Model, id.Hardware, err)
	load, err := engine.Load(ctx)
	fmt.Println(load.Running.N, "running,", load.Waiting.N, "waiting", err)
	counters, err := engine.Scrape(ctx)
	fmt.Println(counters.CacheHits.N, "of", counters.PromptTokens.N, "prompt tokens from the cache", err)
	// Output:
	// llamacpp b9931-abc1234 gemma-3 8 cores AMD EPYC <nil>
	// 4 running, 2 waiting <nil>
	// 990 of 22350 prompt tokens from the cache <nil>
}

// A server that was started without a place for slots erases none. What each
// reply says of cached tokens holds all the same.
func ExampleEngine_Flush() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()
	engine, err := llamacpp.Attach(ctx, llamacpp.Config{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	flush, err := engine.Flush(ctx)
	fmt.Println(flush.Outcome == engines.FlushUnsupported, err)
	fmt.Println(flush.Remedy)
	// Output:
	// true <nil>
	// start the server with --slot-save-path DIR and --cache-ram 0; what cached tokens say of each request holds without a flush
}
