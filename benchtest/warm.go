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
		return fmt.Errorf("benchtest: %d connections for %d requests in flight: %w: or lower the load", n, n, err)
	}
	if err != nil && ctx.Err() == nil {
		s.logf("connections could not be opened before the load: %v", err)
	}
	return nil
}
