// Package engines is the contract between the load driver and an inference
// server: one interface, Engine, that streams one generation, and one-method
// abilities found by type assertion, as io/fs and database/sql/driver do it.
//
// An engine never reads a clock for a metric. The request carries the
// driver's clock (Request.Stamp) and the engine calls it at the moments that
// only a transport can see: when the request's first byte leaves, when the
// bytes that complete an event are readable, when the stream closes.
//
// The package holds types only: it opens nothing and starts nothing.
package engines

import (
	"context"
	"time"
)

// Engine answers streamed generations. Implementations must be safe for any
// number of concurrent calls.
type Engine interface {
	// Generate streams one generation. It calls emit once per event, in
	// order, one call at a time and never after it has returned. The goroutine
	// that calls it may read for other generations too: emit must not wait.
	//
	// The reply holds what is known even when err is not nil: a stream that
	// broke after two tokens reports both. err is nil only for a stream that
	// ended as its protocol says a finished one does; any other end is an
	// *Error (errors.As), whose Class tells failures apart.
	Generate(ctx context.Context, r *Request, emit func(Chunk)) (Reply, error)
}

// Request is one generation to ask for.
type Request struct {
	// ID names the request. IDs of a run sort in order of arrival. It is sent
	// as x-request-id where the protocol has such a header.
	ID string

	// Tokens is the prompt as token ids. Nil means that Text is the prompt.
	Tokens []int32
	// Text is the prompt as text; ignored when Tokens is not nil.
	Text string

	// MaxTokens is the number of tokens to generate at most; it must be
	// positive.
	MaxTokens int
	// MinTokens is the number to generate at least; zero sets no minimum.
	MinTokens int
	// IgnoreEOS keeps generating past an end-of-sequence token, so that the
	// output is exactly MaxTokens long where the engine can do it.
	IgnoreEOS bool
	// Temperature is always sent; zero is greedy.
	Temperature float64

	// CacheSalt separates this request's prefix-cache entries from those of
	// other salts, where the engine knows salts. Empty sends none.
	CacheSalt string

	// Prepared is what the engine made of the request ahead of time, which only
	// it can read (Preparer). Nil leaves all to Generate.
	Prepared any

	// Stamp is the driver's clock: time since the run's origin. Nil leaves
	// every time in chunks and reply at zero.
	Stamp func() time.Duration
}

// Now reads the driver's clock; it is zero when the request carries none.
func (r *Request) Now() time.Duration {
	if r.Stamp == nil {
		return 0
	}
	return r.Stamp()
}

// Count is a number that may be unknown. The zero value is unknown: missing
// is never zero.
type Count struct {
	// N is the number; zero while Known is false.
	N     int
	Known bool
}

// Known returns the known count n.
func Known(n int) Count { return Count{N: n, Known: true} }

// Chunk is one event of a stream.
type Chunk struct {
	// At is when the bytes that complete the event were readable, by the
	// request's Stamp.
	At time.Duration
	// Token is true when the event carries something generated: text,
	// reasoning, a tool-call payload or token ids, or a running token count
	// that has grown while the server holds the text back. Role-only, empty
	// and usage-only events are false and start no clock.
	Token bool
	// Content is true when the event carries text of the answer itself, not
	// only reasoning or a tool call.
	Content bool
	// Tokens is how many tokens the event carries, where the server says so
	// (token ids, running usage); else unknown. It is never guessed.
	Tokens Count
	// Lost is how much of the time between the chunk before and this one may be
	// missing between their At, at most: one read brought that chunk together
	// with later bytes, whose time it has. Zero where each came by itself, and
	// where the transport cannot tell (Reply.ReadLag is zero then).
	Lost time.Duration
}

// Reply is what is known of a generation when its stream has ended.
type Reply struct {
	// Sent is when the request's first byte left.
	Sent time.Duration
	// Connect is how long the request waited for a connection, name
	// resolution and TLS included, before it could be sent; zero where one was
	// there, or some microseconds where several requests share one (HTTP/2). The
	// driver counts it as no lag of the client's, so that nothing which this side
	// does meanwhile, such as to encode the request, belongs to it.
	Connect time.Duration
	// FirstEvent is when the first event of any kind was readable; zero when
	// there was none.
	FirstEvent time.Duration
	// Closed is when the stream ended.
	Closed time.Duration

	// PromptTokens, OutputTokens and CachedTokens are the server's own
	// counts. CachedTokens is the part of the prompt that a prefix cache
	// served.
	PromptTokens, OutputTokens, CachedTokens Count

	// Finish is the finish reason the server gave: "length", "stop", …
	// Empty when it gave none.
	Finish string
	// Model is the model that answered, as the server names it.
	Model string
	// Status is the HTTP status; zero where there is none.
	Status int
	// NewConnection is true when the request had to open a connection.
	NewConnection bool
	// Protocol is the protocol that the server answered with where it is not
	// HTTP/1.1, such as "HTTP/2.0"; empty for that.
	Protocol string
	// ReadLag is the longest time that bytes of the reply lay readable here
	// before they were read. At (of a chunk) does not contain it, but events
	// that one read brings share their time: Chunk.Lost says what gaps may have
	// lost so. Zero where the transport cannot tell.
	ReadLag time.Duration
	// Warnings are departures from the protocol that did not fail the
	// request, such as a missing terminal event after a finish reason, and what
	// is in its times that is not the server's, such as a slow name server.
	Warnings []string
}
