package enginetest

import (
	"context"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// one: a generation of the length asked.
func (s *suite) one() { s.good("one generation", s.request(s.o.Prompt, s.o.Output)) }

// long: a prompt of many tokens.
func (s *suite) long() { s.good("long prompt", s.request(s.o.LongPrompt, s.o.Output)) }

// slow: a callback that takes its time sees one event after another.
func (s *suite) slow() {
	r := s.request(s.o.Prompt, s.o.Output)
	w, returned := s.generate(s.ctx, r, func(engines.Chunk) { s.wait(2 * time.Millisecond) }, s.o.Patience)
	if !returned || w.err != nil {
		s.wrong("slow callback", "%s failed: %v", r.ID, w.err)
		return
	}
	s.judge("slow callback", w)
}

// concurrent: generations at once, of different lengths so that mixed-up
// streams show.
func (s *suite) concurrent() {
	var (
		wg sync.WaitGroup
		ws = make([]*watch, s.o.Concurrent)
		ok = make([]bool, s.o.Concurrent)
	)
	for i := range ws {
		r := s.request(s.o.Prompt+i, s.o.Output+i)
		wg.Go(func() { ws[i], ok[i] = s.generate(s.ctx, r, nil, s.o.Patience) })
	}
	wg.Wait()
	for i, w := range ws {
		switch {
		case !ok[i]:
			s.wrong("concurrency", "%s did not return", w.request.ID)
		case w.err != nil:
			s.typed("concurrency", w)
			s.wrong("concurrency", "%s, one of %d at once, failed: %v", w.request.ID, len(ws), w.err)
		default:
			s.judge("concurrency", w)
		}
	}
}

// clockless: a request without a clock is served and has no times.
func (s *suite) clockless() {
	r := s.request(s.o.Prompt, s.o.Output)
	r.Stamp = nil
	w, returned := s.generate(s.ctx, r, nil, s.o.Patience)
	if !returned || w.err != nil {
		s.wrong("no clock", "%s, without a Stamp, failed: %v", r.ID, w.err)
		return
	}
	times := []time.Duration{w.reply.Sent, w.reply.Connect, w.reply.FirstEvent, w.reply.Closed}
	for _, c := range w.chunks {
		times = append(times, c.At)
	}
	for _, at := range times {
		if at != 0 {
			s.wrong("no clock", "%s: a time of %v in a request without a Stamp", r.ID, at)
			return
		}
	}
}

// canceled: a context that ends, before or during a generation, ends the call
// promptly with its own class.
func (s *suite) canceled() {
	before, cancel := context.WithCancel(s.ctx)
	cancel()
	s.unsent(before, "canceled beforehand")
	before, cancel = context.WithDeadline(s.ctx, time.Now().Add(-time.Second))
	cancel()
	s.unsent(before, "expired beforehand")

	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	s.ended(ctx, "canceled at its first token", s.request(s.o.Prompt, 16*s.o.Output), func(c engines.Chunk) {
		if c.Token {
			cancel()
		}
	})
}

// unsent runs a generation whose context has already ended.
func (s *suite) unsent(ctx context.Context, what string) {
	w := s.ended(ctx, what, s.request(s.o.Prompt, s.o.Output), nil)
	if w != nil && len(w.chunks) > 0 {
		s.wrong("cancel", "%s, %s: %d events all the same", w.request.ID, what, len(w.chunks))
	}
}

// ended runs a generation whose context ends and judges its end.
func (s *suite) ended(ctx context.Context, what string, r *engines.Request, then func(engines.Chunk)) *watch {
	w, returned := s.generate(ctx, r, then, s.o.Patience)
	switch {
	case !returned:
		s.wrong("cancel", "%s, %s: Generate did not return within %v", r.ID, what, s.o.Patience)
		return nil
	case w.err == nil:
		s.wrong("cancel", "%s, %s: ended as a success", r.ID, what)
	default:
		if class := s.typed("cancel", w); class != "" && class != engines.Canceled {
			s.wrong("cancel", "%s, %s: the failure's class is %q, want %q", r.ID, what, class, engines.Canceled)
		}
	}
	return w
}

// misused: a request that cannot be served fails, with a class, and emits
// nothing.
func (s *suite) misused() {
	r := s.request(s.o.Prompt, 1)
	r.MaxTokens, r.MinTokens = 0, 0
	w, returned := s.generate(s.ctx, r, nil, s.o.Patience)
	switch {
	case !returned:
		s.wrong("misuse", "%s, for no tokens, did not return", r.ID)
	case w.err == nil:
		s.wrong("misuse", "%s: a request for %d tokens must fail", r.ID, r.MaxTokens)
	default:
		s.typed("misuse", w)
	}
}
