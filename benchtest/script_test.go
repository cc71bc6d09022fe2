package benchtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// prompts asks for prompts and outputs of fixed lengths, as token ids.
type prompts struct{ prompt, output int }

func (w prompts) Request(i int, shape, content uint64) engines.Request {
	tokens := make([]int32, w.prompt)
	for k := range tokens {
		tokens[k] = int32(1000 + derive("token", content, uint64(i), uint64(k))%29000)
	}
	return engines.Request{Tokens: tokens, MaxTokens: w.output, IgnoreEOS: true}
}

func (w prompts) String() string { return fmt.Sprintf("prompts(%d/%d)", w.prompt, w.output) }

// script is an engine in memory. A request's first token comes after first,
// the others a gap apart; with slots, that many are served at a time, in order
// of arrival.
type script struct {
	first, gap time.Duration
	slots      int
	// fails, where it is set, may fail the n-th request (from 0) at once.
	fails func(n int, r *engines.Request) error
	// sends, where it is set, delays the sending of the n-th request.
	sends func(n int)
	// lost, where it is set, is what is lost of the gap before the i-th event of
	// the n-th request, both from 0.
	lost func(n, i int) time.Duration
	// reply, where it is set, changes the reply of the n-th request.
	reply func(n int, reply *engines.Reply)

	mu       sync.Mutex
	seen     []engines.Request
	inFlight int
	peak     int
	slot     chan struct{}
}

func (e *script) VirtualTime() bool { return true }

// arrived counts a request and gives its number.
func (e *script) arrived(r *engines.Request) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, *r)
	e.inFlight++
	e.peak = max(e.peak, e.inFlight)
	if e.slots > 0 && e.slot == nil {
		e.slot = make(chan struct{}, e.slots)
	}
	return len(e.seen) - 1
}

func (e *script) left() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight--
}

func (e *script) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (reply engines.Reply, err error) {
	n := e.arrived(r)
	defer e.left()
	if e.sends != nil {
		e.sends(n)
	}
	reply.Sent = r.Now()
	defer func() { reply.Closed = r.Now() }()
	canceled := &engines.Error{Class: engines.Canceled, Message: "the context ended"}
	if e.fails != nil {
		if err := e.fails(n, r); err != nil {
			return reply, err
		}
	}
	if e.slots > 0 {
		select {
		case e.slot <- struct{}{}:
			defer func() { <-e.slot }()
		case <-ctx.Done():
			return reply, canceled
		}
	}
	for i := range r.MaxTokens {
		wait := e.gap
		if i == 0 {
			wait = e.first
		}
		if wait > 0 && !sleep(ctx, wait) {
			return reply, canceled
		}
		at := r.Now()
		if i == 0 {
			reply.FirstEvent = at
		}
		c := engines.Chunk{At: at, Token: true, Content: true, Tokens: engines.Known(1)}
		if e.lost != nil {
			c.Lost = e.lost(n, i)
		}
		emit(c)
	}
	reply.Model, reply.Status, reply.Finish = "model", 200, "length"
	reply.PromptTokens, reply.OutputTokens = engines.Known(len(r.Tokens)), engines.Known(r.MaxTokens)
	reply.CachedTokens = engines.Known(0)
	if e.reply != nil {
		e.reply(n, &reply)
	}
	return reply, nil
}

// inBubble runs f in virtual time.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// small is a point that is quick to read: no warmup, no settle, one run.
func small(p Point) Point {
	if p.Workload == nil {
		p.Workload = prompts{16, 4}
	}
	if p.Warmup == 0 {
		p.Warmup = -1
	}
	if p.Settle == 0 {
		p.Settle = -1
	}
	if p.Runs == 0 {
		p.Runs = 1
	}
	return p
}

// one makes one run and returns its record.
func one(t *testing.T, engine engines.Engine, p Point) *metric.Record {
	t.Helper()
	runs, err := Run(t.Context(), engine, p, Options{Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs.Records) != 1 {
		t.Fatalf("%d records, want 1", len(runs.Records))
	}
	return runs.Records[0]
}

// window are the requests that count.
func window(r *metric.Record) []*metric.Timeline { return r.Counted() }

// kinds are the kinds of the run's problems.
func kinds(r *metric.Record) []string {
	out := []string{}
	for _, p := range r.Problems {
		out = append(out, p.Kind)
	}
	return out
}
