package benchtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// readyLimit bounds the wait for the engine to answer once; an engine that
// compiles on its first request may take minutes.
const readyLimit = 5 * time.Minute

// ready asks for one small generation of its own, with a prompt that no
// workload sends, and waits until the engine gives it. A listening port or a
// health route is no sign that an engine can generate.
func (s *session) ready(ctx context.Context) error {
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("the limit is %v", readyLimit))
	defer cancel()
	for wait, try := 100*time.Millisecond, 1; ; wait, try = min(2*wait, 2*time.Second), try+1 {
		s.start.tries = try
		model, err := s.generateOnce(ctx, try)
		if err == nil {
			return s.checkModel(model)
		}
		var e *engines.Error
		if dead := s.died(ctx); dead != nil {
			return dead
		}
		if ctx.Err() == nil && (!errors.As(err, &e) || !loading(e) || s.simulator != nil) {
			return fmt.Errorf("benchtest: the engine is not ready: one small generation: %w", err)
		}
		if try == 1 && ctx.Err() == nil {
			s.logf("waiting for the engine: %v", err)
		}
		if e != nil {
			wait = max(wait, min(e.RetryAfter, 10*time.Second))
		}
		if !sleep(ctx, wait) {
			tries := fmt.Sprintf("%d tries", try)
			if try == 1 {
				tries = "1 try"
			}
			return fmt.Errorf("benchtest: the engine was not ready after %v and %s (%w): %w", brief(time.Since(begun)), tries, context.Cause(ctx), err)
		}
	}
}

// loading reports whether an error may be that of a server that is still
// loading, so that it is worth asking again. A name that does not exist is
// mistyped, or of a server that nobody has started.
func loading(e *engines.Error) bool {
	var dns *net.DNSError
	switch e.Class {
	case engines.Unreachable:
		return !errors.As(e, &dns) || !dns.IsNotFound
	case engines.Refused, engines.Reset, engines.Truncated, engines.Stale, engines.ServerError:
		return true
	case engines.Status:
		return e.Status >= 500
	}
	return false
}

// sleep waits on the clock that the test sees; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// generateOnce is a load of one request. It returns the model that answered.
func (s *session) generateOnce(ctx context.Context, try int) (model string, err error) {
	l := load{
		schedule: schedule{process: once{}, warmup: 1},
		workload: readiness{s.plan.Point.Workload},
		seeds:    seeds{shape: derive("ready"), content: derive("ready", s.start.nonce, uint64(try))},
		drain:    readyLimit,
		id:       fmt.Sprintf("openloop-%08x-ready%d", uint32(s.start.nonce), try),
	}
	out := s.offer(ctx, l, s.awaits(ctx))
	switch cause := context.Cause(ctx); {
	case len(out.flights) == 0 || out.cut != nil && !errors.Is(out.cut, cause):
		return "", errors.Join(out.cut, cause)
	case out.cut != nil:
		return "", fmt.Errorf("one small generation had not ended, %d token events had come: the engine hangs, or something between here and there does: look into its log, or start it again", out.flights[0].line.Events)
	}
	f := out.flights[0]
	if f.line.Failure == "" {
		s.start.sample(f.line)
		return f.model, nil
	}
	if f.err == nil {
		f.err = &engines.Error{Class: engines.Class(f.line.Failure), Message: f.line.Message}
	}
	return "", f.err
}

// readyPatience is how long the engine may take to answer once before that is
// told, where time is real.
const readyPatience = time.Second

// awaits is a watcher that says what is waited for while the engine does not
// answer, and for how long at most.
func (s *session) awaits(ctx context.Context) watcher {
	return s.watch(lead+readyPatience, 2*progressEvery, func(p *pass) {
		waited := p.now() - lead
		left := readyLimit - waited
		if end, ok := ctx.Deadline(); ok {
			left = min(left, time.Until(end))
		}
		s.logf("waiting for the engine: one small generation has not ended after %v; %v more at most", brief(waited), brief(left))
	})
}

// once is a single arrival at once.
type once struct{}

func (once) Times(uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) { yield(0) }
}

// readiness makes prompts like those of the workload, but short, and from a
// seed that no run has.
type readiness struct{ of Workload }

const readyPrompt, readyOutput = 16, 4

func (w readiness) Request(i int, shape, content uint64) engines.Request {
	r := w.of.Request(i, shape, content)
	if r.Tokens != nil {
		r.Tokens = r.Tokens[:min(len(r.Tokens), readyPrompt)]
	} else {
		r.Text = "Are you ready?"
	}
	r.MaxTokens, r.MinTokens = min(r.MaxTokens, readyOutput), 0
	return r
}

// checkModel holds the model that answered against the one described.
func (s *session) checkModel(answered string) error {
	st := s.start
	if described := st.identity.Model; described != "" && answered != "" && described != answered {
		return fmt.Errorf("benchtest: model %q answered, and the engine says that it serves %q: is this the server you mean?", answered, described)
	}
	st.model = answered
	return nil
}
