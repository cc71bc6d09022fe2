package doctor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// picky is an engine that refuses every output, and remembers its contexts.
type picky struct{ contexts []context.Context }

func (p *picky) Generate(ctx context.Context, _ *engines.Request, _ func(engines.Chunk)) (engines.Reply, error) {
	p.contexts = append(p.contexts, ctx)
	return engines.Reply{}, &engines.Error{Class: engines.Status, Status: 400, Message: "it is too long"}
}

func (*picky) Load(context.Context) (engines.Load, error) {
	return engines.Load{Running: engines.Known(0)}, nil
}

// A long stream that was refused, and tried again shorter, leaves no context
// behind.
func TestDropEndsAllItsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := openai.New(openai.Config{URL: "http://server.invalid"})
		if err != nil {
			t.Fatal(err)
		}
		v := newVisit(t.Context(), Config{}, client)
		defer v.close()
		engine := &picky{}
		v.engine, v.main = engine, &generation{}
		if !v.drop() || len(engine.contexts) != 2 {
			t.Fatalf("%d streams, want a second that is shorter", len(engine.contexts))
		}
		for i, ctx := range engine.contexts {
			if !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("stream %d: its context is open: %v", i, ctx.Err())
			}
		}
	})
}
