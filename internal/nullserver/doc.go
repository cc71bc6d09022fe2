// Package nullserver streams events of vLLM's shape at a set rate and computes
// nothing, so that a client's own cost and error can be measured: whatever a
// client spends or adds beside it is the client's.
//
// One thread sends for many streams: it sleeps to the time of the next event
// and writes each event with a call of its own, as a server does that flushes
// each token. It notes when each write was about to begin, and when the kernel
// had each request (see Request.Arrival), by Now, which is one clock for all
// processes of a host.
//
// # Routes
//
// POST /v1/completions is a generation, and so is GET /events, for clients that
// send no body. A number before it, as in /50/v1/completions, is the rate of
// this stream's events; 0 sends the whole reply at once, in one write.
// GET /journal is what the server has seen (see Read), GET /v1/models a list of
// one model, and /health, /ping and /version are answered as servers do.
//
// # Systems
//
// On Linux the sender sleeps in the kernel to the microsecond and writes to
// sockets itself, and a client that does not read holds up no other. Elsewhere
// it sleeps and writes as Go does, a client that does not read holds up all,
// and Now is the wall clock.
package nullserver
