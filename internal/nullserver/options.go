package nullserver

import (
	"errors"
	"fmt"
	"time"
)

// Options say what each stream is.
type Options struct {
	// Events is the number of token events of every stream. Zero is what each
	// request asks for by max_tokens or max_completion_tokens, or 1.
	Events int
	// Rate is the number of events per second of each stream whose path has
	// none. Zero sends the whole reply at once, in one write.
	Rate float64
	// First is how long after its request a stream's first event is due. Zero
	// is one period of its rate.
	First time.Duration
	// Step puts the events of all streams on one grid of time, as the batch of
	// an engine does. Spread puts them on grids whose phases are spread evenly
	// over a period, so that events come one at a time. With either, first
	// events are due at the next time of the grid. Neither: every stream keeps
	// the time of its request.
	Step, Spread bool
	// Senders is the number of threads that send. Zero is 1, which gives about
	// 100,000 events a second.
	Senders int
	// Usage has running usage in every event. False has it where the request
	// asks for it, by continuous_usage_stats.
	Usage bool
	// Journal keeps what is known of each request (see Request). False keeps
	// nothing.
	Journal bool
	// Close ends each connection after its reply. False keeps it unless the
	// request says "Connection: close".
	Close bool
	// Model is the name of the model. Empty is "null".
	Model string
	// Token is the text of each event. Empty is " token".
	Token string
	// Prompt is the number of prompt tokens that usage has. Zero is the number
	// of token ids in the request's prompt, or 16 where it is text.
	Prompt int
}

const (
	maxRate   = 1e6
	maxTokens = 1 << 20
)

// validate returns everything that is wrong.
func (o Options) validate() error {
	var wrong []error
	not := func(field string, got any, limit string) {
		wrong = append(wrong, fmt.Errorf("nullserver: Options.%s must %s, got %v", field, limit, got))
	}
	if o.Events < 0 || o.Events > maxTokens {
		not("Events", o.Events, fmt.Sprintf("be from 0 to %d", maxTokens))
	}
	if !(o.Rate >= 0 && o.Rate <= maxRate) {
		not("Rate", o.Rate, "be from 0 to 1e6 events/s")
	}
	if o.First < 0 {
		not("First", o.First, "not be negative")
	}
	if o.Step && o.Spread {
		not("Spread", o.Spread, "be false with Step")
	}
	if o.Senders < 0 {
		not("Senders", o.Senders, "not be negative")
	}
	if o.Prompt < 0 {
		not("Prompt", o.Prompt, "not be negative")
	}
	return errors.Join(wrong...)
}

// orDefaults fills in what is left to the default.
func (o Options) orDefaults() Options {
	o.Senders = max(o.Senders, 1)
	if o.Model == "" {
		o.Model = "null"
	}
	if o.Token == "" {
		o.Token = " token"
	}
	return o
}
