package benchtest

import (
	"context"
	"time"
)

// coarse is how long before an arrival the timer of the Go runtime must have
// fired, when time is real: in an idle process it fires up to a millisecond
// late, and now and then two. The rest is slept by nap.
const coarse = 2 * time.Millisecond

// waiter waits for times on a load's clock. In virtual time package time
// alone paces, because nothing else is virtual there.
type waiter struct {
	origin  time.Time
	virtual bool
	timer   *time.Timer
}

func newWaiter(origin time.Time, virtual bool) *waiter {
	w := &waiter{origin: origin, virtual: virtual, timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	return w
}

func (w *waiter) now() time.Duration { return time.Since(w.origin) }

// until waits for at, or for ctx or done if they end first. Done may be nil.
func (w *waiter) until(ctx context.Context, at time.Duration, done <-chan struct{}) {
	d := at - w.now()
	if !w.virtual {
		d -= coarse
	}
	if d > 0 {
		w.timer.Reset(d)
		defer w.timer.Stop()
		select {
		case <-w.timer.C:
		case <-ctx.Done():
			return
		case <-done:
			return
		}
	}
	if w.virtual {
		return
	}
	for ctx.Err() == nil {
		rest := at - w.now()
		if rest <= 0 {
			return
		}
		before := w.now()
		nap(min(rest, coarse))
		if w.now() == before {
			// The clock is a bubble's, although the engine does not say so.
			time.Sleep(rest)
		}
	}
}
