package openai

import (
	"context"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// dialsAtOnce bounds how many connections Warm opens at a time, so that the
// queue of those that a server has yet to accept does not overflow.
const dialsAtOnce = 64

// soon is how long before its idle time is over a connection is not counted on:
// a load takes a moment to begin.
const soon = time.Second

// Warm opens connections until n are idle, so that the next n generations that
// are in flight at once wait for none and report no new connection. Idle ones
// are closed after four seconds, before servers close them: call it just before
// the load. It implements engines.Warmer.
//
// Connections that the server has closed do not count, nor those with less than
// a second left. Where generations go through net/http (see the package), what
// counts are the connections that Warm opened and no generation has used, and
// one that the server has closed since is not noticed.
//
// It does nothing where connections cannot be kept: with Config.Fresh or
// Config.Proxy, with Config.HTTP2, whose streams share connections, and once the
// server was seen to close connections after a stream.
//
// The error is an *engines.Error. Class Client is a host that cannot have so
// many connections, with the numbers; then none was opened.
func (e *Engine) Warm(parent context.Context, n int) error {
	if e.cfg.Fresh || e.cfg.HTTP2 || e.cfg.Proxy != nil || e.transport.habit.closes.Load() {
		return nil
	}
	have, open := e.transport.ahead.lasting(), e.transport.dialAhead
	if e.direct != nil {
		if e.direct.habit.closes.Load() {
			return nil
		}
		have, open = e.direct.lasting(), e.direct.dialAhead
	}
	if n -= have; n <= 0 {
		return nil
	}
	if err := hostRoom(n); err != nil {
		return e.fail(engines.Client, 0, err, "open connections: %v", err)
	}
	if err := several(parent, n, dialsAtOnce, open); err != nil {
		return e.broken(parent, nil, &attempt{}, "open connections", err)
	}
	return nil
}
