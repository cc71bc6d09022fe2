package process

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Spec says what to run and when it counts as ready.
type Spec struct {
	// Name is the server's name in messages: "vllm" in "start vllm: …".
	Name string
	// Command is the program and its arguments. No shell is involved.
	Command []string
	// Env are KEY=VALUE pairs added to this process's environment.
	Env []string
	// Dir is the working directory; empty is this process's.
	Dir string
	// LogFile receives stdout and stderr, secrets removed; it is truncated.
	// Empty is a new file in os.TempDir(), openloop-NAME-….log.
	LogFile string
	// Secrets are further values to keep out of Command and the log; those
	// of Command, Env and the environment are recognised by their names.
	Secrets []string

	// Ready is called again and again until it returns nil: the server is
	// ready. Its context ends when the child dies. An error of Final ends
	// the start at once; any other is tried again.
	Ready func(ctx context.Context) error
	// Budget bounds the time from start to ready; zero is 10 minutes.
	Budget time.Duration
	// Longer says how the user gets a longer budget, for the message; empty
	// is "raise the start budget".
	Longer string
	// Interval is the pause between two calls of Ready; zero is 250 ms.
	Interval time.Duration
	// Grace is the time between TERM and KILL; zero is 10 s.
	Grace time.Duration
}

const (
	defaultBudget   = 10 * time.Minute
	defaultInterval = 250 * time.Millisecond
	defaultGrace    = 10 * time.Second
)

func (s *Spec) validate() error {
	var errs []error
	if s.Name == "" {
		errs = append(errs, errors.New("process: Spec.Name must not be empty"))
	}
	if len(s.Command) == 0 || s.Command[0] == "" {
		errs = append(errs, errors.New("process: Spec.Command must name a program"))
	}
	if s.Ready == nil {
		errs = append(errs, errors.New("process: Spec.Ready must not be nil"))
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"Budget", s.Budget}, {"Interval", s.Interval}, {"Grace", s.Grace}} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("process: Spec.%s must not be negative, got %v", d.field, d.value))
		}
	}
	return errors.Join(errs...)
}

func (s *Spec) setDefaults() {
	if s.Budget == 0 {
		s.Budget = defaultBudget
	}
	if s.Longer == "" {
		s.Longer = "raise the start budget"
	}
	if s.Interval == 0 {
		s.Interval = defaultInterval
	}
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
}
