package engines

import "context"

// Mortal is an engine that may die for good and can tell: a server that was
// started here, and is not started again unless Restart is asked for.
type Mortal interface {
	// Death says how the engine has ended by itself. It is nil while the engine
	// runs, of one that was stopped, and where nothing is known of its end.
	Death(ctx context.Context) error
}
