package sim

import "time"

// A bubble's clock begins here, and no other tells of a bubble.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// inBubble reports whether a time is of a testing/synctest bubble: bubbles is
// later than any of their clocks gets and earlier than any real one.
func inBubble(t time.Time) bool { return t.Before(bubbles) }

var bubbles = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// clockOf is the clock that stamps the events of an engine made at a time, in
// nanoseconds: a bubble's own, else CLOCK_MONOTONIC; nil where there is none.
func clockOf(made time.Time) func() int64 {
	if inBubble(made) {
		return func() int64 { return int64(time.Since(bubbleStart)) }
	}
	return monotonic
}
