//go:build !race

package ci

// Race is true in a binary built with -race. The race detector makes code two
// to ten times slower, so what such a binary measures on a real clock is
// never gated and never stored.
const Race = false
