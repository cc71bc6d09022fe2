package engines

import "context"

// Holder is an engine on which others may measure as well: tests of another
// package that are attached to the same server, or of another engine on the same
// device. Two measurements at once would measure each other.
type Holder interface {
	// Hold waits until nobody else measures there, and returns the function that
	// gives it back. Who is the test, for those who wait meanwhile: one who holds
	// may hold another engine there, to measure both in turns. Log is told for
	// whom this waits; nil is told nothing. The error is that ctx ended first, or
	// that the engine cannot be held.
	Hold(ctx context.Context, who string, log func(format string, args ...any)) (release func() error, err error)
}
