package benchtest

import (
	"context"
	"time"
)

// coarse is how long before a time the timer of the Go runtime is asked for
// where the kernel's alarm does the rest: in an idle process the runtime's
// timers fire up to a millisecond late, and now and then two, because its
// poller waits in whole milliseconds.
const coarse = 5 * time.Millisecond

// waiter waits for absolute times on a load's clock. Anyone may read the
// clock; one goroutine waits.
//
// It is the seam between the two kinds of time. In virtual time nothing but
// package time is virtual, so package time paces alone. On a real clock the
// last milliseconds are left to an alarm, where the system has one.
type waiter struct {
	origin time.Time
	timer  *time.Timer
	alarm  *alarm // nil: package time paces alone
}

// newWaiter makes a waiter; it must be closed.
func newWaiter(origin time.Time, virtual bool) *waiter {
	w := &waiter{origin: origin, timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	if !virtual {
		w.alarm = newAlarm(origin)
	}
	return w
}

func (w *waiter) close() {
	w.timer.Stop()
	w.alarm.close()
}

func (w *waiter) now() time.Duration { return time.Since(w.origin) }

// until waits for at, or for ctx or done if they end first. Done may be nil.
func (w *waiter) until(ctx context.Context, at time.Duration, done <-chan struct{}) {
	d := at - w.now()
	if w.alarm != nil {
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
	for w.alarm != nil && ctx.Err() == nil && w.now() < at {
		if !w.alarm.wait(at) {
			w.alarm.close()
			w.alarm = nil
			time.Sleep(at - w.now())
		}
	}
}
