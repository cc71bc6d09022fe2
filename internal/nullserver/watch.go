package nullserver

import (
	"context"
	"sync"

	"github.com/openloop-go/openloop/engines"
)

// Seen is when the token events of one generation came.
type Seen struct {
	// Origin is the zero of the request's clock, by Now.
	Origin int64
	// Events are their times by Now, as the engine stamped them.
	Events []int64
}

// Watched is an engine whose events are kept, to be put beside a journal.
type Watched struct {
	engine engines.Engine

	mu   sync.Mutex
	seen map[string]Seen
}

// Watch watches an engine. Of its abilities Watched has Warm and Prepare.
func Watch(e engines.Engine) *Watched { return &Watched{engine: e, seen: map[string]Seen{}} }

// Generate implements engines.Engine.
func (w *Watched) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	seen := Seen{Origin: originOf(r), Events: make([]int64, 0, min(r.MaxTokens, maxTokens))}
	reply, err := w.engine.Generate(ctx, r, func(c engines.Chunk) {
		if c.Token {
			seen.Events = append(seen.Events, seen.Origin+int64(c.At))
		}
		emit(c)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[r.ID] = seen
	return reply, err
}

// originOf is the zero of a request's clock by Now, from the narrowest of some
// readings, since this goroutine may be stopped between two clocks.
func originOf(r *engines.Request) (origin int64) {
	for i, width := 0, int64(0); i < 4; i++ {
		before := Now()
		at := int64(r.Now())
		if w := Now() - before; i == 0 || w < width {
			origin, width = before+w/2-at, w
		}
	}
	return origin
}

// Warm implements engines.Warmer; an engine without it opens none.
func (w *Watched) Warm(ctx context.Context, n int) error {
	if warmer, ok := w.engine.(engines.Warmer); ok {
		return warmer.Warm(ctx, n)
	}
	return nil
}

// Prepare implements engines.Preparer; an engine without it prepares nothing.
func (w *Watched) Prepare(r *engines.Request) {
	if p, ok := w.engine.(engines.Preparer); ok {
		p.Prepare(r)
	}
}

// Seen is what came of the generation of that ID; false while it has not ended.
func (w *Watched) Seen(id string) (Seen, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.seen[id]
	return s, ok
}
