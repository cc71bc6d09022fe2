package benchtest

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// What a closed loop may come to where its plan sets no number of requests: in
// a window of a length, and in the cooldown, which lasts for as long as the
// window's last request. An engine that refuses at once frees its slot at once,
// and in virtual time at no time at all.
const (
	// cooldownSlot and leastCooldown: a cooldown has at most 100 requests for
	// each slot, and at least 10,000. The longest request of a window lasts as
	// long as many of the shortest, but not as long as so many.
	cooldownSlot, leastCooldown = 100, 10_000
	// failedSlot and leastFailed: a window ends when so many requests in a row
	// have failed, for each slot and at least.
	failedSlot, leastFailed = 10, 1_000
	// fastWindow requests within fastTime are more than any engine serves.
	fastWindow, fastTime = 100_000, 100 * time.Millisecond
)

// bound keeps a closed loop from refilling its slots without end.
type bound struct {
	slots  int
	timed  bool // the window has a length, and no number
	window int  // requests of the window so far
	cooled int  // and of the cooldown
	// failed is how many requests in a row ended in a failure, and first is
	// the failure of the first of them.
	failed int
	first  string
	// stopped is true when a cooldown came to its bound.
	stopped bool
}

func newBound(l load) bound {
	return bound{slots: l.inFlight, timed: l.schedule.window > 0}
}

// ended takes note of how a request ended.
func (b *bound) ended(t *metric.Timeline) {
	if t.Failure == "" {
		b.failed = 0
		return
	}
	if b.failed++; b.failed == 1 {
		b.first = t.Failure + ": " + t.Message
	}
}

// refuses reports whether a request of that phase must not be sent any more;
// since is how long the window has been open. With an error the load is to
// stop there.
func (b *bound) refuses(phase metric.Phase, since time.Duration) (bool, error) {
	switch {
	case phase == metric.Cooldown:
		b.cooled++
		b.stopped = b.cooled > max(leastCooldown, cooldownSlot*b.slots)
		return b.stopped, nil
	case phase != metric.Window || !b.timed:
		return false, nil
	}
	b.window++
	if b.failed >= max(leastFailed, failedSlot*b.slots) {
		return true, fmt.Errorf("benchtest: the closed loop was stopped after %v of its window: %d requests in a row had failed; first: %s", since, b.failed, b.first)
	}
	if b.window > fastWindow && since < fastTime {
		return true, fmt.Errorf("benchtest: the closed loop was stopped: %d requests in %v, so the engine takes no time to serve them: set Point.Requests instead of Window", fastWindow, since)
	}
	return false, nil
}

// warning says that the cooldown was bounded; empty where it was not.
func (b *bound) warning() string {
	if !b.stopped {
		return ""
	}
	return fmt.Sprintf("the cooldown was ended after %d requests, before the window's last had: those ran in an emptying batch; find out why the others end so soon", b.cooled-1)
}
