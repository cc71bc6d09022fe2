// Package nullserver streams events of vLLM's shape at a set rate and computes
// nothing, so that a client's own cost and error can be measured: whatever a
// client spends or adds beside it is the client's.
//
// One thread sends for all streams: it sleeps in the kernel to the time of the
// next event and writes each event with a call of its own, as a server does
// that flushes each token. It notes when each write was about to begin, by
// CLOCK_MONOTONIC, which is one clock for all processes of a host.
//
// It needs Linux.
package nullserver
