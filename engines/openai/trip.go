package openai

import (
	"context"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// trip is an attempt by the direct transport.
func (e *Engine) trip(parent context.Context, c *call, r *engines.Request, f *form, emit func(engines.Chunk)) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	a := &c.attempt
	c.begin(parent, emit, cancel)
	if c.silence != nil {
		defer c.silence.Stop()
	}
	fresh := e.fresh()
	request, err := e.encoded(r, f, fresh)
	if err != nil {
		return e.broken(parent, context.Cause(ctx), a, "POST "+e.route.Path, err)
	}
	a.start = time.Duration(a.flow.now())
	for {
		if ctx.Err() != nil {
			return e.broken(parent, context.Cause(ctx), a, "POST "+e.route.Path, context.Cause(ctx))
		}
		a.got = time.Time{}
		w, err := e.direct.get(ctx, fresh)
		if err != nil {
			return e.broken(parent, context.Cause(ctx), a, "POST "+e.route.Path, err)
		}
		a.connected(w.used, w.used, w.served || w.used && time.Since(w.idle) >= soon)
		a.waited(w.slow)
		a.stay = &w.stay
		// A connection that was closed before a byte of the request was written
		// is as if it had not been there.
		if err = w.begin(c, request); err == nil {
			select {
			case <-c.done:
			case <-ctx.Done():
				w.abort(c)
				<-c.done
			}
			return c.result(parent, context.Cause(ctx))
		}
		if !w.used {
			return e.broken(parent, context.Cause(ctx), a, "POST "+e.route.Path, err)
		}
		a.warn(unwritten)
	}
}
