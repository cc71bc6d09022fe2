package benchtest

import (
	"context"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// dispatchOpen sends each request when it is due, whatever became of those
// before it. It returns when no more are to be sent.
func (p *pass) dispatchOpen(ctx context.Context) {
	ctx, stop := p.stoppable(ctx)
	defer stop()
	opened, closed := false, false
	flights := p.builder(ctx, p.dues())
	for {
		f := p.next(ctx, flights)
		if f == nil {
			return
		}
		at := f.line.Scheduled
		switch {
		case f.line.Phase != metric.Cooldown:
			p.until(ctx, at, nil)
		case !closed:
			p.closeWindow(at)
			p.until(ctx, at, nil)
			closed = true
			p.readEdge(1)
		default:
			p.until(ctx, min(at, p.cutAt()), p.windowDone)
		}
		if ctx.Err() != nil {
			return
		}
		if closed && p.enough(at) {
			return
		}
		if f.line.Phase == metric.Window && !opened {
			opened = true
			if !p.openWindow(at) {
				return
			}
		}
		p.launch(f)
	}
}

// enough reports whether the arrival at the given time of cooldown need not be
// sent: every request of the window had ended before, or the drain limit has
// passed.
func (p *pass) enough(at time.Duration) bool {
	end, ended := p.windowEnded()
	return ended && end < at || at > p.cutAt()
}

// stoppable is ctx that a crash ends as well.
func (p *pass) stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-p.crashed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
