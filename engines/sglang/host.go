package sglang

import (
	"context"

	"github.com/openloop-go/openloop/engines"
)

// Hold implements engines.Holder: nobody else of this host measures the server
// meanwhile, or another one on the same device.
func (e *Engine) Hold(ctx context.Context, who string, log func(format string, args ...any)) (release func() error, err error) {
	return e.s.Hold(ctx, who, log)
}

// Sample implements engines.Sampler: the GPUs of this host that the server
// computes on. On the processor there are none.
func (s *Server) Sample(ctx context.Context) ([]engines.Device, error) { return s.s.Sample(ctx) }

// Death implements engines.Mortal: how the server has ended by itself, with the
// last lines of its log; nil while it runs, and after Close.
func (s *Server) Death(ctx context.Context) error { return s.s.Death(ctx) }
