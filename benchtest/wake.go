package benchtest

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// wakeEvery is how often the process is seen to wake up, on average.
const wakeEvery = 10 * time.Millisecond

// waker sets itself alarms and keeps how late it woke for each. The alarm comes
// by the way by which this process learns that bytes are readable, and what
// holds one up holds up the other: a full run queue, here or in the kernel, a
// stop of the collector, a host that sleeps. So it samples how late events are
// stamped, without an event. Where there is no alarm the timers of package time
// stand for it, which wake an idle process up to a millisecond or two later.
type waker struct {
	alarm      *alarm // nil: package time wakes it
	quit, done chan struct{}

	mu   sync.Mutex
	late *hdrhistogram.Histogram // in ns
}

// wakes are how late the process woke.
type wakes struct {
	n        int64
	p99, max time.Duration
}

// newWaker starts one on the clock of that origin; nil in a bubble, where nobody
// wakes late. It must be stopped.
func newWaker(origin time.Time) *waker {
	if !onRealClock(origin) {
		return nil
	}
	return startWaker(origin, newAlarm(origin))
}

// startWaker starts one that has this alarm; nil is none.
func startWaker(origin time.Time, a *alarm) *waker {
	w := &waker{alarm: a, quit: make(chan struct{}), done: make(chan struct{}), late: hdrhistogram.New(1, int64(time.Minute), 2)}
	go w.run(origin)
	return w
}

// run wakes at times that keep no beat with anything else.
func (w *waker) run(origin time.Time) {
	defer close(w.done)
	defer func() { w.alarm.close() }()
	for {
		at := time.Since(origin) + time.Duration(rand.Int64N(2*int64(wakeEvery)))
		w.wait(origin, at)
		late := time.Since(origin) - at
		select {
		case <-w.quit:
			return
		default:
		}
		w.mu.Lock()
		_ = w.late.RecordValue(min(max(1, int64(late)), w.late.HighestTrackableValue()))
		w.mu.Unlock()
	}
}

// wait returns at that time, or when it is to quit. An alarm that is out of order
// is done without.
func (w *waker) wait(origin time.Time, at time.Duration) {
	if w.alarm != nil {
		if w.alarm.wait(at) {
			return
		}
		w.alarm.close()
		w.alarm = nil
	}
	select {
	case <-time.After(at - time.Since(origin)):
	case <-w.quit:
	}
}

// take returns what was kept since the last take.
func (w *waker) take() *wakes {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := &wakes{n: w.late.TotalCount(), p99: time.Duration(w.late.ValueAtPercentile(99)), max: time.Duration(w.late.Max())}
	w.late.Reset()
	return out
}

func (w *waker) stop() {
	if w == nil {
		return
	}
	close(w.quit)
	<-w.done
}
