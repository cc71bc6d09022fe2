package vllm_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// A test starts its own server, on the second GPU and with room for 64
// sequences; with OPENLOOP_VLLM_URL set it attaches to that one instead.
func ExampleStart() {
	var t *testing.T // the test's
	engine := vllm.Start(t, vllm.Config{
		Model:       "meta-llama/Meta-Llama-3-8B-Instruct",
		Args:        []string{"--max-num-seqs", "64"},
		Env:         []string{"CUDA_VISIBLE_DEVICES=1"},
		StartBudget: 15 * time.Minute,
	})
	_ = engine // for benchtest.Measure
}

// A program that is no test ends the server itself.
func ExampleLaunch() {
	ctx := context.Background()
	engine, stop, err := vllm.Launch(ctx, vllm.Config{Model: "/models/llama"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx)
	_ = engine // for benchtest.Run
}

// serve stands for a vLLM server that somebody else has started.
func serve(cfg sim.Config) (url string, stop func()) {
	engine, err := sim.NewServer(cfg)
	if err != nil {
		panic(err)
	}
	h := httptest.NewServer(engine.Handler())
	return h.URL, func() { h.Close(); _ = engine.Close() }
}

func ExampleAttach() {
	url, stop := serve(sim.Config{})
	defer stop()
	ctx := context.Background()

	_, err := vllm.Attach(ctx, vllm.Config{URL: url, Model: "qwen"})
	fmt.Println(err != nil) // it serves another model

	engine, err := vllm.Attach(ctx, vllm.Config{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	id, err := engine.Describe(ctx)
	fmt.Println(id.Engine, id.Model, err)
	load, err := engine.Load(ctx)
	fmt.Println("idle:", load.Idle(), err)
	// Output:
	// true
	// vllm meta-llama/Meta-Llama-3-8B-Instruct <nil>
	// idle: true <nil>
}

func ExampleEngine_Flush() {
	ctx := context.Background()
	for _, dev := range []bool{false, true} {
		url, stop := serve(sim.Config{DevMode: dev})
		engine, err := vllm.Attach(ctx, vllm.Config{URL: url})
		if err != nil {
			fmt.Println(err)
			return
		}
		flush, err := engine.Flush(ctx)
		fmt.Println(flush.Outcome, flush.Remedy, err)
		stop()
	}
	// Output:
	// unsupported start the server with VLLM_SERVER_DEV_MODE=1 in its environment <nil>
	// flushed  <nil>
}

func ExampleEngine_Scrape() {
	url, stop := serve(sim.Config{})
	defer stop()
	ctx := context.Background()
	engine, err := vllm.Attach(ctx, vllm.Config{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	before, err := engine.Scrape(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := engines.Request{Tokens: make([]int32, 32), MaxTokens: 5, IgnoreEOS: true}
	if _, err := engine.Generate(ctx, &request, func(engines.Chunk) {}); err != nil {
		fmt.Println(err)
		return
	}
	after, err := engine.Scrape(ctx)
	fmt.Println(after.PromptTokens.N-before.PromptTokens.N, after.OutputTokens.N-before.OutputTokens.N, err)
	// Output: 32 5 <nil>
}

// What only a server started here can do is found by a type assertion.
func ExampleServer() {
	ctx := context.Background()
	engine, stop, err := vllm.Launch(ctx, vllm.Config{Model: "/models/llama"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx)
	server, started := engine.(*vllm.Server)
	if !started {
		fmt.Println("attached: measured on one start, without its log")
		return
	}
	events, err := server.CompileEvents(ctx)
	fmt.Println(server.LogFile(), events, err)
	fmt.Println(server.Restart(ctx))
}
