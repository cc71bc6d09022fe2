package enginetest_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// fake is an engine in memory that keeps the contract and has every ability.
// It serves any number of requests at once, a token every step, and caches
// whole prompts. Its fields let a test break one thing at a time.
type fake struct {
	step time.Duration
	// chunk and end change what is emitted and returned; generate replaces
	// the whole generation.
	chunk    func(i int, c *engines.Chunk)
	end      func(r *engines.Request, reply *engines.Reply, err *error)
	generate func(f *fake, ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error)
	// The others change what an ability says.
	identity func(*engines.Identity, *error)
	loaded   func(*engines.Load, *error)
	scraped  func(n int, c *engines.Counters, err *error)
	flushed  func(f *fake, out *engines.Flush, err *error)
	logged   func(n int, c *engines.Count, err *error)
	sampled  func(d []engines.Device, err *error) []engines.Device
	held     func(n int, ctx context.Context) (release func() error, err error)
	restart  func(f *fake) error
	outcome  func(o engines.Outcome, done func(engines.Outcome))

	mu                                        sync.Mutex
	running, scrapes, logs, holds             int
	prompted, output, queries, hits, instance int
	cache                                     map[int32]bool
}

func newFake() *fake {
	return &fake{step: 5 * time.Millisecond, cache: map[int32]bool{}}
}

func (f *fake) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	if f.generate != nil {
		return f.generate(f, ctx, r, emit)
	}
	return f.stream(ctx, r, emit)
}

func (f *fake) stream(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	var reply engines.Reply
	err := f.run(ctx, r, emit, &reply)
	reply.Closed = r.Now()
	if f.end != nil {
		f.end(r, &reply, &err)
	}
	return reply, err
}

func (f *fake) run(ctx context.Context, r *engines.Request, emit func(engines.Chunk), reply *engines.Reply) error {
	if r.MaxTokens <= 0 {
		return &engines.Error{Class: engines.Misuse, Message: "fake: MaxTokens must be positive"}
	}
	if ctx.Err() != nil {
		return &engines.Error{Class: engines.Canceled, Err: context.Cause(ctx)}
	}
	reply.Sent, reply.Model, reply.PromptTokens = r.Now(), "fake-1", engines.Known(len(r.Tokens))
	reply.CachedTokens = engines.Known(f.admit(r))
	defer func() { f.count(-1, 0) }()
	for i := range r.MaxTokens {
		select {
		case <-time.After(f.step):
		case <-ctx.Done():
			return &engines.Error{Class: engines.Canceled, Err: context.Cause(ctx)}
		}
		c := engines.Chunk{At: r.Now(), Token: true, Content: true, Tokens: engines.Known(1)}
		if i == 0 {
			reply.FirstEvent = c.At
		}
		if f.chunk != nil {
			f.chunk(i, &c)
		}
		emit(c)
		f.count(0, 1)
		reply.OutputTokens = engines.Known(i + 1)
	}
	reply.Finish = "length"
	return nil
}

// admit takes a request in and returns how much of its prompt is cached.
func (f *fake) admit(r *engines.Request) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running++
	f.prompted += len(r.Tokens)
	f.queries += len(r.Tokens)
	if len(r.Tokens) == 0 || !f.cache[r.Tokens[0]] {
		if len(r.Tokens) > 0 {
			f.cache[r.Tokens[0]] = true
		}
		return 0
	}
	f.hits += len(r.Tokens)
	return len(r.Tokens)
}

func (f *fake) count(running, output int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running += running
	f.output += output
}

func (f *fake) Describe(context.Context) (id engines.Identity, err error) {
	id = engines.Identity{Engine: "fake", Model: "fake-1"}
	if f.identity != nil {
		f.identity(&id, &err)
	}
	return id, err
}

func (f *fake) Load(context.Context) (load engines.Load, err error) {
	f.mu.Lock()
	load = engines.Load{Running: engines.Known(f.running), Waiting: engines.Known(0)}
	f.mu.Unlock()
	if f.loaded != nil {
		f.loaded(&load, &err)
	}
	return load, err
}

func (f *fake) Scrape(context.Context) (c engines.Counters, err error) {
	f.mu.Lock()
	f.scrapes++
	n := f.scrapes
	c = engines.Counters{
		PromptTokens: engines.Known(f.prompted), OutputTokens: engines.Known(f.output),
		CacheQueries: engines.Known(f.queries), CacheHits: engines.Known(f.hits),
		Instance: string(rune('a' + f.instance)),
	}
	f.mu.Unlock()
	if f.scraped != nil {
		f.scraped(n, &c, &err)
	}
	return c, err
}

func (f *fake) Flush(context.Context) (out engines.Flush, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out = engines.Flush{Outcome: engines.Flushed, Detail: "cleared"}
	if f.running > 0 {
		out = engines.Flush{Outcome: engines.FlushRefused, Detail: "busy", Remedy: "wait"}
	} else {
		clear(f.cache)
	}
	if f.flushed != nil {
		f.flushed(f, &out, &err)
	}
	return out, err
}

func (f *fake) CompileEvents(context.Context) (c engines.Count, err error) {
	f.logs++
	c = engines.Known(3)
	if f.logged != nil {
		f.logged(f.logs, &c, &err)
	}
	return c, err
}

func (f *fake) Restart(context.Context) error {
	if f.restart != nil {
		return f.restart(f)
	}
	f.instance++
	f.prompted, f.output, f.queries, f.hits = 0, 0, 0, 0
	clear(f.cache)
	return nil
}

// Simulate serves each arrival by itself, without a clock.
func (f *fake) Simulate(arrivals iter.Seq[engines.Arrival], done func(engines.Outcome)) {
	if f.outcome == nil {
		f.outcome = func(o engines.Outcome, done func(engines.Outcome)) { done(o) }
	}
	for a := range arrivals {
		o := engines.Outcome{Request: a.Request, Reply: engines.Reply{
			Sent: a.At, FirstEvent: a.At + f.step, Finish: "length", Model: "fake-1",
			PromptTokens: engines.Known(len(a.Request.Tokens)), OutputTokens: engines.Known(a.Request.MaxTokens),
		}}
		for i := range a.Request.MaxTokens {
			at := a.At + time.Duration(i+1)*f.step
			o.Chunks = append(o.Chunks, engines.Chunk{At: at, Token: true, Tokens: engines.Known(1)})
			o.Reply.Closed = at
		}
		f.outcome(o, done)
	}
}

var errBroken = errors.New("broken")

func (f *fake) Sample(context.Context) (devices []engines.Device, err error) {
	devices = []engines.Device{{ID: "0", ClockMHz: engines.Known(1980), Throttles: engines.Throttles{Known: true}}, {ID: "1"}}
	if f.sampled != nil {
		devices = f.sampled(devices, &err)
	}
	return devices, err
}

func (f *fake) Hold(ctx context.Context, _ string, _ func(string, ...any)) (release func() error, err error) {
	f.mu.Lock()
	f.holds++
	n := f.holds
	f.mu.Unlock()
	if f.held != nil {
		return f.held(n, ctx)
	}
	return func() error { return nil }, nil
}
