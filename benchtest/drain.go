package benchtest

import (
	"context"
	"errors"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// cutAt is when the drain limit has passed: a drain after the window's end,
// or after the last arrival of a warmup.
func (p *pass) cutAt() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.to + p.drain
	}
	if n := len(p.flights); n > 0 {
		return p.flights[n-1].line.Scheduled + p.drain
	}
	return 0
}

// drained waits until nothing is open, and ends what is left when the drain
// limit has passed or there is a reason to stop. It returns that reason.
func (p *pass) drained(ctx context.Context) error {
	p.mu.Lock()
	p.over = true
	closeOnce(p.shut)
	p.signal()
	p.mu.Unlock()
	var cause error
	timer := time.NewTimer(p.cutAt() - p.now())
	defer timer.Stop()
	select {
	case <-p.idle:
	case <-timer.C:
		p.end(p.crashedOr(errDrained))
	case <-ctx.Done():
		cause = p.stopped(context.Cause(ctx))
		p.end(cause)
	case <-p.crashed:
		p.end(p.crashedOr(nil))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crash != nil {
		return p.crash
	}
	if cause == nil {
		cause = context.Cause(ctx)
	}
	return cause
}

// crashedOr is the crash in one line, or the cause where there was none.
func (p *pass) crashedOr(cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crash == nil {
		return cause
	}
	return errors.New(firstLine(p.crash.Error()))
}

// end aborts what is open, with its cause, and gives the engine time to
// return.
func (p *pass) end(cause error) {
	p.abort(cause)
	class := metric.Aborted
	if errors.Is(cause, errDrained) {
		class = metric.Unfinished
	}
	p.mu.Lock()
	for _, f := range p.queue {
		f.fail(class, cause.Error())
		p.left(f, p.now())
	}
	p.queue = nil
	p.mu.Unlock()
	timer := time.NewTimer(returnGrace)
	defer timer.Stop()
	select {
	case <-p.idle:
	case <-timer.C:
	}
}
