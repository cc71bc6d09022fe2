package engines

// Dialer is an engine whose configuration may give each request a connection of
// its own. Opening them is then part of what is measured, because it was asked
// for; of an engine that does not say so it is the server that ends connections.
type Dialer interface {
	// DialsEach reports whether that is so.
	DialsEach() bool
}
