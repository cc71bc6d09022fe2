package engines_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/openloop-go/openloop/engines"
)

// Shouting sends its prompts in capitals, and makes them so ahead of time where
// it is asked.
type Shouting struct{}

func (Shouting) Prepare(r *engines.Request) { r.Prepared = strings.ToUpper(r.Text) }

func (s Shouting) Generate(_ context.Context, r *engines.Request, _ func(engines.Chunk)) (engines.Reply, error) {
	text, ready := r.Prepared.(string)
	if !ready {
		text = strings.ToUpper(r.Text)
	}
	r.Prepared = nil
	fmt.Println(text, ready)
	return engines.Reply{}, nil
}

func ExamplePreparer() {
	var engine engines.Engine = Shouting{}
	r := engines.Request{Text: "hello", MaxTokens: 1}
	if p, ok := engine.(engines.Preparer); ok {
		p.Prepare(&r)
	}
	_, _ = engine.Generate(context.Background(), &r, func(engines.Chunk) {})
	_, _ = engine.Generate(context.Background(), &r, func(engines.Chunk) {})
	// Output:
	// HELLO true
	// HELLO false
}
