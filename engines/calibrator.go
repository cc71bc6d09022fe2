package engines

import (
	"context"
	"time"
)

// Calibrator is an engine whose client can tell what it costs on this host, so
// that a load which the host cannot offer is known before it begins.
type Calibrator interface {
	// Calibrate measures the client against a server of its own in this
	// process, which computes nothing; the engine's server is not asked. It
	// takes some tenths of a second, and tells the same all day.
	Calibrate(ctx context.Context) (Cost, error)
}

// Cost is the CPU time of this host that a client spends. What its server
// cannot be told from it is in it, so that it is rather too high than too low.
type Cost struct {
	// Request is what a request takes apart from the events of its stream,
	// Event what each event takes when it comes by itself.
	Request, Event time.Duration
}

// CPUs is how many CPUs are busy with so many requests and events a second.
func (c Cost) CPUs(requests, events float64) float64 {
	return requests*c.Request.Seconds() + events*c.Event.Seconds()
}
