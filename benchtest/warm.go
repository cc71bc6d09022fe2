package benchtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// warm opens the connections that a load is expected to need, so that none is
// dialled in its window: as many as a closed loop has slots, and for an open
// loop as many as were in flight at once in earlier loads on this start. A host
// that cannot have so many is an error before anything is sent.
func (s *session) warm(ctx context.Context, l load) error {
	w, ok := s.engine.(engines.Warmer)
	n := l.inFlight
	if n == 0 {
		n = s.start.peak
	}
	if !ok || s.virtual || n == 0 {
		return nil
	}
	if l.probeRate > 0 {
		n++
	}
	err := w.Warm(ctx, n)
	var e *engines.Error
	if errors.As(err, &e) && e.Class == engines.Client {
		return fmt.Errorf("%s: %w; or lower the load", s.forWhat(l, n), err)
	}
	if err != nil && ctx.Err() == nil {
		s.logf("connections could not be opened before the load: %v", err)
	}
	return nil
}

// piledUp is how many times as many requests in flight as there would be if each
// took as long as one alone are taken for a queue: engines serve many more slowly
// than one, and keep up all the same.
const piledUp = 10

// forWhat says what n connections are for.
func (s *session) forWhat(l load, n int) string {
	if l.inFlight > 0 {
		return fmt.Sprintf("%d connections for %d requests in flight", n, n)
	}
	words := fmt.Sprintf("%d connections, since an earlier load had %s in flight at once", n, many(s.start.peak, "request"))
	if s.start.first == 0 {
		return words
	}
	least, err := s.leastInFlight()
	if err != nil || s.start.peak < piledUp*max(least, 1) {
		return words
	}
	return fmt.Sprintf("%s, and %s has %d if each takes as long as one alone: requests pile up because the engine does not keep up", words, s.plan.Point.loadName(), least)
}
