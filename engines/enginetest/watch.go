package enginetest

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// watch is one generation and all that was seen of it.
type watch struct {
	request *engines.Request
	// before and after are the clock around the call.
	before, after time.Duration
	reply         engines.Reply
	err           error

	mu      sync.Mutex
	chunks  []engines.Chunk
	routine string
	// faults of emit: called from another goroutine, while another call ran,
	// with a time that had not come yet, after the return.
	moved, overlapping, early, late int
	emitting, returned              bool
	// then is called after each chunk.
	then func(engines.Chunk)
}

// emit is what the engine calls.
func (w *watch) emit(c engines.Chunk) {
	now, id := w.request.Now(), goroutine()
	w.mu.Lock()
	if w.routine == "" {
		w.routine = id
	}
	if id != w.routine {
		w.moved++
	}
	if w.emitting {
		w.overlapping++
	}
	if c.At > now {
		w.early++
	}
	if w.returned {
		w.late++
		w.mu.Unlock()
		return
	}
	w.emitting = true
	w.chunks = append(w.chunks, c)
	then := w.then
	w.mu.Unlock()
	if then != nil {
		then(c)
	}
	w.mu.Lock()
	w.emitting = false
	w.mu.Unlock()
}

// goroutine names the goroutine that calls.
func goroutine() string {
	var buf [64]byte
	text, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte(" ["))
	return string(text)
}

// generate runs one generation. It returns false when the engine did not
// return within limit of the end of ctx; the engine may then still run.
func (s *suite) generate(ctx context.Context, r *engines.Request, then func(engines.Chunk), limit time.Duration) (*watch, bool) {
	w := &watch{request: r, then: then}
	s.mu.Lock()
	s.watches = append(s.watches, w)
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		before := r.Now()
		reply, err := s.engine.Generate(ctx, r, w.emit)
		after := r.Now()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.before, w.after, w.reply, w.err, w.returned = before, after, reply, err, true
	}()
	select {
	case <-done:
		return w, true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return w, true
	case <-time.After(limit):
		return w, false
	}
}

// good runs a generation that must succeed, and judges all of it. It returns
// nil when there is nothing to judge.
func (s *suite) good(rule string, r *engines.Request) *watch {
	w, returned := s.generate(s.ctx, r, nil, s.o.Patience)
	if !returned {
		s.wrong(rule, "%s: Generate did not return within %v of the end of its context", r.ID, s.o.Patience)
		return nil
	}
	if w.err != nil {
		s.typed(rule, w)
		s.wrong(rule, "%s failed: %v", r.ID, w.err)
		return nil
	}
	s.judge(rule, w)
	return w
}

// judge judges a success.
func (s *suite) judge(rule string, w *watch) {
	s.stamps(w)
	s.counts(w)
	s.length(rule, w)
	if s.model == "" {
		s.model = w.reply.Model
	}
}

// typed demands that a failure is an *engines.Error with a class and returns
// its class.
func (s *suite) typed(rule string, w *watch) engines.Class {
	var failure *engines.Error
	if !errors.As(w.err, &failure) {
		s.wrong("failure", "%s: a failure must be an *engines.Error, got %T: %v (%s)", w.request.ID, w.err, w.err, rule)
		return ""
	}
	if failure.Class == "" {
		s.wrong("failure", "%s: an *engines.Error without a class: %v (%s)", w.request.ID, failure, rule)
	}
	return failure.Class
}

// grace is how long after the last return a late event is waited for.
const grace = 100 * time.Millisecond

// quiet judges how emit was called, when all is over.
func (s *suite) quiet() {
	s.wait(grace)
	s.mu.Lock()
	watches := s.watches
	s.mu.Unlock()
	for _, w := range watches {
		w.mu.Lock()
		id, moved, overlapping, early, late := w.request.ID, w.moved, w.overlapping, w.early, w.late
		w.mu.Unlock()
		if late > 0 {
			s.wrong("emit", "%s: %d events after Generate had returned", id, late)
		} else if moved > 0 {
			s.wrong("emit", "%s: %d events from another goroutine than the first", id, moved)
		}
		if overlapping > 0 {
			s.wrong("emit", "%s: %d events while another was being emitted", id, overlapping)
		}
		if early > 0 {
			s.wrong("stamps", "%s: %d events have a time that had not come when they were emitted", id, early)
		}
	}
}
