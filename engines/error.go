package engines

import (
	"fmt"
	"time"
)

// Class tells failures of a request apart. It is a word that records keep.
type Class string

// The classes of failure.
const (
	// Refused: the server declined the load (429, 503).
	Refused Class = "refused"
	// Status: any other status that is not 2xx.
	Status Class = "status"
	// Unauthorized: 401 or 403.
	Unauthorized Class = "unauthorized"
	// NoModel: the server does not serve the model asked for.
	NoModel Class = "no-model"
	// Protocol: the reply is not what the route promises (HTML, a body that
	// is not an event stream, an event that does not parse), or the two sides
	// do not agree on how to speak (TLS on one side only, a certificate that is
	// refused, HTTP/2): waiting changes none of it.
	Protocol Class = "protocol"
	// ServerError: an error object inside a 200 reply.
	ServerError Class = "server-error"
	// Truncated: the stream ended cleanly before its terminal event.
	Truncated Class = "truncated"
	// Reset: the connection broke after the reply had begun or the server
	// dropped it while working.
	Reset Class = "reset"
	// NoToken: the stream finished without a single token.
	NoToken Class = "no-token"
	// Unreachable: no connection could be made.
	Unreachable Class = "unreachable"
	// Stale: a kept-alive connection that the server had just closed; a
	// client's artefact, not the server's failure.
	Stale Class = "stale-connection"
	// Client: this host ran out of something (descriptors, ports).
	Client Class = "client"
	// Silent: the reply stopped, without ending, for longer than the limit
	// that the engine was given.
	Silent Class = "silent"
	// Misuse: the request cannot be asked of this engine; nothing was sent.
	Misuse Class = "misuse"
	// Canceled: the caller's context ended first.
	Canceled Class = "canceled"
)

// Error is the failure of one request.
type Error struct {
	// Class is what kind of failure it is; it must be set.
	Class Class
	// Status is the HTTP status; zero where there is none.
	Status int
	// Message is one sentence: what was tried and what came back, with the
	// server's own words.
	Message string
	// RetryAfter is the delay the server asked for; zero when it asked for
	// none. Nothing here retries by itself.
	RetryAfter time.Duration
	// Err is the cause; it may be nil.
	Err error
}

// Error returns the message, or the class and status when there is none.
func (e *Error) Error() string {
	if e.Message != "" {
		return e.Message
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s: status %d", e.Class, e.Status)
	}
	return string(e.Class)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
