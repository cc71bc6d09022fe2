package sglang

import (
	"context"

	"github.com/openloop-go/openloop/engines"
)

// Prepare implements engines.Preparer: it encodes the request.
func (e *Engine) Prepare(r *engines.Request) { e.s.Client().Prepare(r) }

// Warm implements engines.Warmer: it opens connections until n are idle.
func (e *Engine) Warm(ctx context.Context, n int) error { return e.s.Client().Warm(ctx, n) }

// DialsEach implements engines.Dialer: whether Config.Fresh is set.
func (e *Engine) DialsEach() bool { return e.s.Client().DialsEach() }

// Proxy implements engines.Proxied: the proxy of Config.Proxy, without user
// information, and the environment variable of one that is not used.
func (e *Engine) Proxy() (used, unused string) { return e.s.Client().Proxy() }

// Calibrate implements engines.Calibrator: it measures what the client costs on
// this host, without asking the server.
func (e *Engine) Calibrate(ctx context.Context) (engines.Cost, error) {
	return e.s.Client().Calibrate(ctx)
}

// Redact implements engines.Redactor: a text without the engine's key.
func (e *Engine) Redact(text string) string { return e.s.Client().Redact(text) }
