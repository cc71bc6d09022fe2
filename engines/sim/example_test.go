package sim_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// In arithmetic, an engine computes when each token would have left. Here ten
// requests arrive at once: the first shares its step with half of the second
// one's prompt, and the last one waits for all of them.
func ExampleModel_Simulate() {
	model, err := sim.NewModel(sim.Config{Noise: sim.Quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	arrivals := func(yield func(engines.Arrival) bool) {
		for i := range 10 {
			tokens := make([]int32, 2048)
			tokens[0] = int32(i)
			r := &engines.Request{ID: fmt.Sprintf("r%d", i), Tokens: tokens, MaxTokens: 256, IgnoreEOS: true}
			if !yield(engines.Arrival{At: time.Second, Request: r}) {
				return
			}
		}
	}
	model.Simulate(arrivals, func(o engines.Outcome) {
		if o.Request.ID == "r0" || o.Request.ID == "r9" {
			ttft := o.Reply.FirstEvent - o.Reply.Sent
			fmt.Printf("%s: first token after %.0f ms, %d tokens\n", o.Request.ID, ttft.Seconds()*1e3, o.Reply.OutputTokens.N)
		}
	})
	// Output:
	// r0: first token after 47 ms, 256 tokens
	// r9: first token after 340 ms, 256 tokens
}

func ExampleNewModel() {
	_, err := sim.NewModel(sim.Config{DecodeSlowdown: -1.1, Flavor: "tgi"})
	fmt.Println(err)
	// Output:
	// sim: Flavor must be "vllm", "sglang" or "tensorrt_llm", got "tgi"
	// DecodeSlowdown must be positive and finite, got -1.1
}

// The numbers of Llama-3-8B on one H100, at 2,048 tokens in and 256 out.
func ExampleProfile() {
	p := sim.Llama3H100
	fmt.Printf("decode of one: %.2f ms a token\n", p.DecodeStep(1, 0).Seconds()*1e3)
	fmt.Printf("decode of 64 at 2,176 tokens of context: %.2f ms\n", p.DecodeStep(64, 2176).Seconds()*1e3)
	fmt.Printf("prefill of 2,048 tokens: %.0f ms\n", p.Prefill(2048).Seconds()*1e3)
	fmt.Printf("capacity at 64 in flight: %.1f requests a second\n", p.Capacity(64, 2048, 256))
	// Output:
	// decode of one: 4.48 ms a token
	// decode of 64 at 2,176 tokens of context: 9.93 ms
	// prefill of 2,048 tokens: 31 ms
	// capacity at 64 in flight: 14.2 requests a second
}

// In a test an engine lives in memory behind a real client, and in a bubble
// its time is virtual: these four seconds take no time.
func ExampleNew() {
	test := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			engine := sim.New(t, sim.Config{DevMode: true, Noise: sim.Quiet})
			began := time.Now()
			r := &engines.Request{ID: "r1", Tokens: make([]int32, 2048), MaxTokens: 800, IgnoreEOS: true}
			reply, err := engine.Generate(t.Context(), r, func(engines.Chunk) {})
			t.Logf("%d tokens in %v, %v", reply.OutputTokens.N, time.Since(began), err)
		})
	}
	_ = test // go test runs it
}

// Outside of a test the caller closes the engine. Time here is real.
func ExampleOpen() {
	ctx := context.Background()
	engine, err := sim.Open(ctx, sim.Config{DevMode: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	id, _ := engine.Describe(ctx)
	f, _ := engine.Flush(ctx)
	fmt.Println(id.Engine, "on", id.Hardware)
	fmt.Println(f.Outcome)
	// Output:
	// sim on 1x H100 SXM 80GB (simulated)
	// flushed
}

// A server answers on any listener, or as the handler of a server of your own.
func ExampleServer_Handler() {
	server, err := sim.NewServer(sim.Config{Flavor: sim.SGLang})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	mine := httptest.NewServer(server.Handler())
	defer mine.Close()
	resp, err := http.Post(mine.URL+"/flush_cache", "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}

// An engine with a fault: a tenth of its requests is refused, and its output
// is a quarter shorter than asked.
func ExampleFaults() {
	model, err := sim.NewModel(sim.Config{Seed: 1, Faults: sim.Faults{RefuseShare: 0.1, OutputCut: 0.25}})
	if err != nil {
		fmt.Println(err)
		return
	}
	refused, tokens := 0, 0
	model.Simulate(func(yield func(engines.Arrival) bool) {
		for i := range 200 {
			r := &engines.Request{ID: fmt.Sprint(i), Tokens: []int32{int32(i), 1, 2}, MaxTokens: 100, IgnoreEOS: true}
			if !yield(engines.Arrival{At: time.Duration(i) * time.Second, Request: r}) {
				return
			}
		}
	}, func(o engines.Outcome) {
		if o.Err != nil {
			refused++
		}
		tokens = max(tokens, o.Reply.OutputTokens.N)
	})
	fmt.Println(refused, "refused;", tokens, "tokens of 100")
	// Output: 19 refused; 75 tokens of 100
}

// Noise off, its default, and twice the default within runs.
func ExampleNoise() {
	for _, n := range []sim.Noise{sim.Quiet, {}, {Run: 0.02}, {Run: 2}} {
		fmt.Println(sim.Config{Noise: n}.Validate())
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// sim: Noise.Run must be below 1 (0.01 is 1 %), got 2
}

// A step of a shape that is met for the first time costs a compilation.
func ExampleConfig() {
	model, err := sim.NewModel(sim.Config{CompileCost: 2 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	r := &engines.Request{Tokens: []int32{1, 2, 3, 4}, MaxTokens: 3, IgnoreEOS: true}
	_, _ = model.Generate(ctx, r, func(engines.Chunk) {})
	n, _ := model.CompileEvents(ctx)
	fmt.Println(n.N, "shapes compiled")
	// Output: 2 shapes compiled
}

// On a port, the engine serves any client until it is shut down.
func ExampleServer() {
	server, err := sim.NewServer(sim.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	resp, err := http.Get("http://" + listener.Addr().String() + "/version")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	fmt.Println(server.Shutdown(context.Background()), <-served)
	// Output:
	// {"version":"sim-1"}
	// <nil> <nil>
}

// What a prefix cache holds lasts from one call to the next, until it is
// flushed; and a restart is another start of the engine.
func ExampleModel_Flush() {
	model, err := sim.NewModel(sim.Config{DevMode: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	cached := func() int {
		r := &engines.Request{Tokens: make([]int32, 1000), MaxTokens: 2, IgnoreEOS: true}
		reply, _ := model.Generate(ctx, r, func(engines.Chunk) {})
		return reply.CachedTokens.N
	}
	fmt.Println(cached(), cached())
	f, _ := model.Flush(ctx)
	fmt.Println(f.Outcome, cached())
	_ = model.Restart(ctx)
	c, _ := model.Scrape(ctx)
	l, _ := model.Load(ctx)
	fmt.Println(c.PromptTokens.N, c.Instance, l.Idle())
	// Output:
	// 0 992
	// flushed 0
	// 0 sim-0-1 true
}
