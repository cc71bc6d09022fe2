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

// shout is a text and what was made of it.
type shout struct{ of, loud string }

func (Shouting) Prepare(r *engines.Request) { r.Prepared = shout{r.Text, strings.ToUpper(r.Text)} }

func (Shouting) Generate(_ context.Context, r *engines.Request, _ func(engines.Chunk)) (engines.Reply, error) {
	s, ready := r.Prepared.(shout)
	if ready = ready && s.of == r.Text; !ready { // it may have been changed since
		s.loud = strings.ToUpper(r.Text)
	}
	fmt.Println(s.loud, ready)
	return engines.Reply{}, nil
}

func ExamplePreparer() {
	var engine engines.Engine = Shouting{}
	r := engines.Request{Text: "hello", MaxTokens: 1}
	if p, ok := engine.(engines.Preparer); ok {
		p.Prepare(&r)
	}
	_, _ = engine.Generate(context.Background(), &r, func(engines.Chunk) {})
	r.Text = "goodbye"
	_, _ = engine.Generate(context.Background(), &r, func(engines.Chunk) {})
	// Output:
	// HELLO true
	// GOODBYE false
}
