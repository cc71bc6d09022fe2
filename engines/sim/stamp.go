package sim

import "time"

// bubbleStart is where the clock of every testing/synctest bubble begins.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// bubbles is later than the clock of any bubble gets, and earlier than any real
// clock: nothing but the time itself tells whether it is a bubble's.
var bubbles = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// inBubble reports whether a time is of a testing/synctest bubble.
func inBubble(t time.Time) bool { return t.Before(bubbles) }

// clockOf is the clock that stamps the events of an engine made at a time, in
// nanoseconds: a bubble's own, else CLOCK_MONOTONIC; nil where there is none.
func clockOf(made time.Time) func() int64 {
	if inBubble(made) {
		return func() int64 { return int64(time.Since(bubbleStart)) }
	}
	return monotonic
}
