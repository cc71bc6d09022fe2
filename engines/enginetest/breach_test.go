package enginetest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
)

func TestEveryBreachOfAStreamIsFound(t *testing.T) {
	type reply = engines.Reply
	onEnd := func(f func(r *engines.Request, reply *engines.Reply)) func(*fake) {
		return func(e *fake) {
			e.end = func(r *engines.Request, reply *engines.Reply, err *error) {
				if *err == nil && r.Stamp != nil {
					f(r, reply)
				}
			}
		}
	}
	onChunk := func(f func(i int, c *engines.Chunk)) func(*fake) { return func(e *fake) { e.chunk = f } }
	instead := func(f func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error)) func(*fake) {
		return func(e *fake) { e.generate = f }
	}
	find(t, []breach{
		{"a failure", func(f *fake) {
			f.end = func(_ *engines.Request, _ *reply, err *error) { *err = &engines.Error{Class: engines.Reset} }
		},
			"one generation: enginetest-000001 failed: reset", "one generation|long prompt|concurrency|no clock|cancel|scrape|flush|compile events|restart|slow callback"},
		{"a failure of no type", func(f *fake) { f.end = func(_ *engines.Request, _ *reply, err *error) { *err = errBroken } },
			"failure: enginetest-000001: a failure must be an *engines.Error, got *errors.errorString: broken (one generation)",
			"failure|one generation|long prompt|concurrency|no clock|scrape|flush|compile events|restart|slow callback"},
		{"a failure without a class", func(f *fake) {
			f.end = func(_ *engines.Request, _ *reply, err *error) {
				if *err != nil {
					*err = &engines.Error{Message: "oh"}
				}
			}
		}, "failure: enginetest-000012: an *engines.Error without a class: oh (cancel)", "failure"},
		{"an output too short", onEnd(func(r *engines.Request, reply *reply) { reply.OutputTokens.N-- }),
			"length: enginetest-000001: 15 tokens out, asked for exactly 16 (one generation)", "length|counts|scrape"},
		{"long prompts refused", func(f *fake) {
			f.end = func(r *engines.Request, _ *reply, err *error) {
				if len(r.Tokens) >= 1024 {
					*err = &engines.Error{Class: engines.Status, Status: 400}
				}
			}
		}, "long prompt: enginetest-000002 failed: status: status 400", "long prompt|flush"},
		{"one at a time", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			time.Sleep(time.Duration(r.ID[len(r.ID)-1]) * time.Microsecond) // not all at one instant
			if load, _ := f.Load(ctx); load.Running.N > 0 {
				return reply{}, &engines.Error{Class: engines.Refused, Status: 503}
			}
			return f.stream(ctx, r, emit)
		}), "concurrency: enginetest-000004, one of 8 at once, failed: refused: status 503", "concurrency"},
		{"Sent missing", onEnd(func(_ *engines.Request, reply *reply) { reply.Sent = 0 }), "stamps: enginetest-000001: Sent has no time", "stamps"},
		{"FirstEvent missing", onEnd(func(_ *engines.Request, reply *reply) { reply.FirstEvent = 0 }), "stamps: enginetest-000001: FirstEvent has no time", "stamps"},
		{"Closed missing", onEnd(func(_ *engines.Request, reply *reply) { reply.Closed = 0 }), "stamps: enginetest-000001: Closed has no time", "stamps"},
		{"Sent before the call", onEnd(func(_ *engines.Request, reply *reply) { reply.Sent = time.Microsecond }),
			"stamps: enginetest-000001: Sent at 1µs is before the call at 1ms", "stamps"},
		{"Sent after the first event", onEnd(func(_ *engines.Request, reply *reply) { reply.Sent = reply.FirstEvent + time.Millisecond }),
			"stamps: enginetest-000001: FirstEvent at 6ms is before Sent at 7ms", "stamps"},
		{"FirstEvent after the first token", onEnd(func(_ *engines.Request, reply *reply) { reply.FirstEvent += time.Millisecond }),
			"stamps: enginetest-000001: event 0 at 6ms is before FirstEvent at 7ms", "stamps"},
		{"events out of order", onChunk(func(i int, c *engines.Chunk) { c.At -= time.Duration(i) * 6 * time.Millisecond }),
			"stamps: enginetest-000001: event 1 at 5ms is before event 0 at 6ms", "stamps|no clock"},
		{"events of the future", onChunk(func(i int, c *engines.Chunk) {
			if i == 0 {
				c.At += time.Microsecond
			}
		}),
			"stamps: enginetest-000001: 1 events have a time that had not come when they were emitted", "stamps|no clock"},
		{"Closed before the last event", onEnd(func(_ *engines.Request, reply *reply) { reply.Closed = reply.FirstEvent }),
			"stamps: enginetest-000001: Closed at 6ms is before event 15 at 81ms", "stamps"},
		{"Closed after the return", onEnd(func(_ *engines.Request, reply *reply) { reply.Closed += time.Hour }),
			"stamps: enginetest-000001: Closed at 1h0m0.081s is after the return at 81ms", "stamps|no clock"},
		{"Connect longer than the wait", onEnd(func(_ *engines.Request, reply *reply) { reply.Connect = time.Second }),
			"stamps: enginetest-000001: Connect is 1s, but the request left 0s after the call", "stamps|no clock"},
		{"times without a clock", func(f *fake) {
			f.end = func(_ *engines.Request, reply *reply, _ *error) { reply.Closed = max(reply.Closed, 1) }
		},
			"no clock: enginetest-000011: a time of 1ns in a request without a Stamp", "no clock"},
		{"a prompt of another length", onEnd(func(_ *engines.Request, reply *reply) { reply.PromptTokens.N++ }),
			"counts: enginetest-000001: PromptTokens is 33 for a prompt of 32 token ids", "counts|scrape"},
		{"a negative count", onEnd(func(_ *engines.Request, reply *reply) { reply.CachedTokens = engines.Known(-1) }),
			"counts: enginetest-000001: CachedTokens is {N:-1 Known:true}: a known count must not be negative, an unknown one must be zero", "counts"},
		{"an unknown count that is not zero", onEnd(func(_ *engines.Request, reply *reply) { reply.CachedTokens = engines.Count{N: 2} }),
			"counts: enginetest-000001: CachedTokens is {N:2 Known:false}: a known count must not be negative, an unknown one must be zero", "counts"},
		{"more cached than prompted", onEnd(func(r *engines.Request, reply *reply) { reply.CachedTokens = engines.Known(2000) }),
			"counts: enginetest-000001: CachedTokens is 2000 of 32 prompt tokens", "counts|flush"},
		{"no token event", onChunk(func(_ int, c *engines.Chunk) { *c = engines.Chunk{At: c.At} }),
			"counts: enginetest-000001: a success without a token event", "counts|cancel"},
		{"content that is no token", onChunk(func(i int, c *engines.Chunk) { c.Token = i != 3 }),
			"counts: enginetest-000001: event 3 has Content but not Token", "counts"},
		{"tokens that are no token event", onChunk(func(i int, c *engines.Chunk) { c.Token, c.Content = i != 3, false }),
			"counts: enginetest-000001: event 3 has 1 Tokens but not Token", "counts"},
		{"events that count too much", onChunk(func(i int, c *engines.Chunk) { c.Tokens.N = 2 }),
			"counts: enginetest-000001: the events' Tokens add up to 32, OutputTokens is 16", "counts"},
		{"some events that count too much", onChunk(func(i int, c *engines.Chunk) { c.Tokens = engines.Count{N: 99 * (i % 2), Known: i%2 == 1} }),
			"counts: enginetest-000001: the known of the events' Tokens add up to 792, OutputTokens is 16", "counts"},
		{"a count kept back", onEnd(func(_ *engines.Request, reply *reply) { reply.OutputTokens = engines.Count{} }),
			"counts: enginetest-000001: every event's Tokens is known, but OutputTokens is not", "counts"},
		{"no finish reason", onEnd(func(_ *engines.Request, reply *reply) { reply.Finish = "" }),
			"counts: enginetest-000001: neither a finish reason nor a warning that it is missing", "counts"},
		{"events after the return", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			time.AfterFunc(200*time.Millisecond, func() { emit(engines.Chunk{}) })
			return f.stream(ctx, r, emit)
		}), "emit: enginetest-000001: 1 events after Generate had returned", "emit"},
		{"events from other goroutines", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			return f.stream(ctx, r, func(c engines.Chunk) {
				done := make(chan bool)
				go func() { emit(c); close(done) }()
				<-done
			})
		}), "emit: enginetest-000001: 15 events from another goroutine than the first", "emit"},
		{"events that overlap", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			return f.stream(ctx, r, func(c engines.Chunk) {
				// Beside a callback that takes 2 ms.
				if strings.HasSuffix(r.ID, "16") {
					time.AfterFunc(time.Millisecond, func() { emit(engines.Chunk{At: c.At}) })
				}
				emit(c)
			})
		}), "emit: enginetest-000016: 16 events while another was being emitted", "emit"},
		{"a deaf engine", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			if r.MaxTokens > 200 {
				ctx = context.WithoutCancel(ctx)
			}
			return f.stream(ctx, r, emit)
		}), "cancel: enginetest-000014, canceled at its first token: ended as a success", "cancel"},
		{"a deaf and slow engine", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			if r.MaxTokens > 200 {
				slow := newFake()
				slow.step = time.Second
				return slow.stream(context.WithoutCancel(ctx), r, emit)
			}
			return f.stream(ctx, r, emit)
		}), "cancel: enginetest-000014, canceled at its first token: Generate did not return within 10s", "cancel"},
		{"events although canceled", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			if ctx.Err() != nil {
				emit(engines.Chunk{At: r.Now()})
			}
			return f.stream(ctx, r, emit)
		}), "cancel: enginetest-000012, canceled beforehand: 1 events all the same", "cancel"},
		{"another class for a cancellation", func(f *fake) {
			f.end = func(_ *engines.Request, _ *reply, err *error) {
				if *err != nil {
					*err = &engines.Error{Class: engines.Reset}
				}
			}
		}, `cancel: enginetest-000012, canceled beforehand: the failure's class is "reset", want "canceled"`, "cancel"},
		{"a request for nothing served", instead(func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply, error) {
			if r.MaxTokens == 0 {
				return reply{}, nil
			}
			return f.stream(ctx, r, emit)
		}), "misuse: enginetest-000015: a request for 0 tokens must fail", "misuse"},
	})
}
