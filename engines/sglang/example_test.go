package sglang_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/sim"
)

// A test starts its own server, on two GPUs; with OPENLOOP_SGLANG_URL set it
// attaches to that one instead.
func ExampleStart() {
	var t *testing.T // the test's
	engine := sglang.Start(t, sglang.Config{
		Model:       "meta-llama/Meta-Llama-3-8B-Instruct",
		Command:     []string{"/opt/sglang/bin/python", "-m", "sglang.launch_server"},
		Args:        []string{"--tp-size", "2"},
		StartBudget: 15 * time.Minute,
	})
	_ = engine // for benchtest.Measure
}

// A program that is no test ends the server itself.
func ExampleLaunch() {
	ctx := context.Background()
	engine, stop, err := sglang.Launch(ctx, sglang.Config{Model: "/models/llama"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx)
	if server, started := engine.(*sglang.Server); started {
		fmt.Println(server.LogFile(), server.Restart(ctx))
	}
}

// serve stands for an SGLang server that somebody else has started.
func serve() (url string, stop func()) {
	engine, err := sim.NewServer(sim.Config{Flavor: sim.SGLang})
	if err != nil {
		panic(err)
	}
	h := httptest.NewServer(engine.Handler())
	return h.URL, func() { h.Close(); _ = engine.Close() }
}

func ExampleAttach() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()
	engine, err := sglang.Attach(ctx, sglang.Config{URL: url, Hardware: "1x NVIDIA H200"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	id, err := engine.Describe(ctx)
	fmt.Println(id.Engine, id.Model, id.Hardware, err)
	load, err := engine.Load(ctx)
	fmt.Println("idle:", load.Idle(), err)
	// Output:
	// sglang meta-llama/Meta-Llama-3-8B-Instruct 1x NVIDIA H200 <nil>
	// idle: true <nil>
}

func ExampleEngine_Flush() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()
	engine, err := sglang.Attach(ctx, sglang.Config{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := engines.Request{Tokens: make([]int32, 64), MaxTokens: 5, IgnoreEOS: true}
	for range 2 {
		if _, err := engine.Generate(ctx, &request, func(engines.Chunk) {}); err != nil {
			fmt.Println(err)
			return
		}
		flush, err := engine.Flush(ctx)
		fmt.Println(flush.Outcome, err)
	}
	counters, err := engine.Scrape(ctx)
	fmt.Println("tokens served by the cache:", counters.CacheHits.N, err)
	// Output:
	// flushed <nil>
	// flushed <nil>
	// tokens served by the cache: 0 <nil>
}
