package engines_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// echo is an engine of one's own: it answers with as many tokens as were asked
// for, one every 10 ms. The driver's clock stamps every event; an engine reads
// no clock for a metric.
type echo struct{ busy bool }

func (e echo) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	reply := engines.Reply{Sent: r.Now(), PromptTokens: engines.Known(len(r.Tokens)), Model: "echo"}
	if e.busy {
		return reply, &engines.Error{
			Class: engines.Refused, Status: 429, RetryAfter: time.Second,
			Message: "echo refused the request (429): it is busy",
		}
	}
	for i := range r.MaxTokens {
		chunk := engines.Chunk{At: r.Now(), Token: true, Content: true, Tokens: engines.Known(1)}
		if i == 0 {
			reply.FirstEvent = chunk.At
		}
		emit(chunk)
	}
	reply.OutputTokens = engines.Known(r.MaxTokens)
	reply.Finish = "length"
	reply.Closed = r.Now()
	return reply, nil
}

// Load makes the engine an engines.Loader, found by type assertion.
func (e echo) Load(context.Context) (engines.Load, error) {
	if e.busy {
		return engines.Load{Running: engines.Known(1), Waiting: engines.Known(0)}, nil
	}
	return engines.Load{Running: engines.Known(0), Waiting: engines.Known(0)}, nil
}

func ExampleEngine() {
	clock := time.Duration(0)
	request := &engines.Request{
		ID: "run-0-000001", Tokens: []int32{11, 12, 13}, MaxTokens: 2, IgnoreEOS: true,
		Stamp: func() time.Duration { clock += 10 * time.Millisecond; return clock },
	}
	reply, err := echo{}.Generate(context.Background(), request, func(c engines.Chunk) {
		fmt.Println("token event at", c.At, "with", c.Tokens.N, "token")
	})
	fmt.Println(reply.Finish, reply.PromptTokens.N, reply.OutputTokens.N, reply.CachedTokens.Known, err)
	// Output:
	// token event at 20ms with 1 token
	// token event at 30ms with 1 token
	// length 3 2 false <nil>
}

func ExampleError() {
	_, err := echo{busy: true}.Generate(context.Background(), &engines.Request{MaxTokens: 1}, nil)
	var failure *engines.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Class, failure.Status, failure.RetryAfter)
	}
	fmt.Println(err)
	// Output:
	// refused 429 1s
	// echo refused the request (429): it is busy
}

func ExampleLoad_Idle() {
	var engine engines.Engine = echo{}
	if loader, ok := engine.(engines.Loader); ok {
		load, _ := loader.Load(context.Background())
		fmt.Println(load.Idle())
	}
	fmt.Println(engines.Load{}.Idle()) // an engine that does not say is not idle
	// Output:
	// true
	// false
}

func ExampleKnown() {
	var cached engines.Count // the zero value is unknown, not zero
	fmt.Println(cached.Known, engines.Known(0).Known)
	// Output: false true
}

func ExampleFlushOutcome() {
	answers := []engines.Flush{
		{Outcome: engines.Flushed, Detail: `POST /reset_prefix_cache: status 200, {"success":true}`},
		{
			Outcome: engines.FlushUnsupported, Detail: "POST /reset_prefix_cache: status 404",
			Remedy: "start the server with VLLM_SERVER_DEV_MODE=1 in its environment",
		},
	}
	for _, flush := range answers {
		fmt.Printf("%s: %q\n", flush.Outcome, flush.Remedy)
	}
	// Output:
	// flushed: ""
	// unsupported: "start the server with VLLM_SERVER_DEV_MODE=1 in its environment"
}
