//go:build linux

package nullserver

import (
	"errors"
	"fmt"
	"time"
)

// Options say what each stream is.
type Options struct {
	// Events is the number of token events of a stream; it must be positive.
	Events int
	// Rate is the number of events per second of each stream. Zero sends them
	// without a pause.
	Rate float64
	// First is how long after its request a stream's first event is due. Zero
	// is one period of Rate.
	First time.Duration
	// Step puts the events of all streams on one grid of time, as the batch of
	// an engine does. False spreads the streams' phases evenly over a period,
	// so that events come one at a time.
	Step bool
	// Stamped puts the time of the write, in nanoseconds of CLOCK_MONOTONIC,
	// into each event as the field "sent". False sends zeros there, so that
	// events are of one length.
	Stamped bool
	// Logged keeps the send times of the streams that have an x-request-id,
	// for Server.Log. False keeps none.
	Logged bool
	// Close ends each connection after its stream. False keeps it unless the
	// request says "Connection: close".
	Close bool
}

// validate returns everything that is wrong.
func (o Options) validate() error {
	var wrong []error
	if o.Events <= 0 {
		wrong = append(wrong, fmt.Errorf("nullserver: Options.Events must be positive, got %d", o.Events))
	}
	if !(o.Rate >= 0 && o.Rate <= 1e6) {
		wrong = append(wrong, fmt.Errorf("nullserver: Options.Rate must be from 0 to 1e6 events/s, got %v", o.Rate))
	}
	if o.First < 0 {
		wrong = append(wrong, fmt.Errorf("nullserver: Options.First must not be negative, got %v", o.First))
	}
	return errors.Join(wrong...)
}

// period is the time between two events of a stream.
func (o Options) period() int64 {
	if o.Rate == 0 {
		return 0
	}
	return int64(float64(time.Second) / o.Rate)
}
