package openai

import (
	"context"
	"sync"
)

// several calls do n times, at most atOnce at a time. The first error ends the
// others and is returned, as is why the parent ended.
func several(parent context.Context, n, atOnce int, do func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	todo := make(chan struct{}, n)
	for range n {
		todo <- struct{}{}
	}
	close(todo)
	var all sync.WaitGroup
	for range min(n, atOnce) {
		all.Go(func() {
			for range todo {
				if ctx.Err() != nil {
					return
				}
				if err := do(ctx); err != nil {
					stop(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
