//go:build linux && (amd64 || arm64)

package openai

import "time"

const (
	// gather is how long a busy loop lets events come together, and busyRate
	// the events per second at which it does: at fewer, a wake for each costs
	// no more. Times are not moved, being the kernel's; but events of one stream
	// within that time of each other are read together and share the last's.
	gather    = 100 * time.Microsecond
	busyRate  = 20_000
	busyAfter = 5 * time.Millisecond // how long the rate is looked at
)

// busy counts the events of the batch that was served and reports whether they
// come often enough to let some come together.
func (l *loop) busy() bool {
	l.served += l.n
	if d := l.now - l.since; d >= busyAfter {
		l.gathers = l.stamped && float64(l.served) >= busyRate*d.Seconds()
		l.served, l.since = 0, l.now
	}
	return l.gathers
}
