package enginetest_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
)

// instant is an engine that generates without taking any time. When it is
// short, it stops one token early.
type instant struct{ short bool }

func (e instant) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	if r.MaxTokens <= 0 {
		return engines.Reply{}, &engines.Error{Class: engines.Misuse, Message: "instant: MaxTokens must be positive"}
	}
	reply := engines.Reply{Sent: r.Now(), PromptTokens: engines.Known(len(r.Tokens)), Finish: "length"}
	n := r.MaxTokens
	if e.short {
		n--
	}
	for i := range n {
		if ctx.Err() != nil {
			reply.Closed = r.Now()
			return reply, &engines.Error{Class: engines.Canceled, Err: ctx.Err()}
		}
		at := r.Now()
		if i == 0 {
			reply.FirstEvent = at
		}
		reply.OutputTokens = engines.Known(i + 1)
		emit(engines.Chunk{At: at, Token: true, Content: true, Tokens: engines.Known(1)})
	}
	reply.Closed = r.Now()
	return reply, nil
}

func ExampleTest() {
	fmt.Println(enginetest.Test(context.Background(), instant{}, enginetest.Options{}))
	fmt.Println(enginetest.Test(context.Background(), instant{short: true}, enginetest.Options{Output: 8, Concurrent: 1}))
	// Output:
	// <nil>
	// length: enginetest-000001: 7 tokens out, asked for exactly 8 (one generation)
	// length: enginetest-000002: 7 tokens out, asked for exactly 8 (long prompt)
	// length: enginetest-000003: 7 tokens out, asked for exactly 8 (concurrency)
	// length: and 1 more
}
