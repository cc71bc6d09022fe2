package benchtest

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// died is how the engine has ended, where it is known to have: then nothing is
// worth another try.
func (s *session) died(ctx context.Context) error {
	m, ok := s.engine.(engines.Mortal)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, edgeLimit)
	defer cancel()
	if err := m.Death(ctx); err != nil {
		return fmt.Errorf("benchtest: the engine is dead, so nothing can be measured on it: %w", err)
	}
	return nil
}
