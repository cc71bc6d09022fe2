package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

// Spec says what to run and when it counts as ready.
type Spec struct {
	// Server is what to start. Its Log is set here; its Grace may be zero,
	// which is 10 s.
	Server launch.Spec
	// Launcher starts it. Nil starts a child of this process, which inherits
	// the environment.
	Launcher launch.Launcher
	// LogFile receives stdout and stderr, secrets removed; it is truncated.
	// Empty is a new file in os.TempDir(), openloop-NAME-….log.
	LogFile string
	// Secrets are further values to keep out of messages and the log; those
	// of the command line and the environment are recognised by their names.
	Secrets []string

	// Ready is called again and again until it returns nil: the server at url
	// is ready. Its context ends when the program dies. An error of Final ends
	// the start at once; any other is tried again.
	Ready func(ctx context.Context, url string) error
	// Hopeless reports that a line of the log is the last of a server that
	// cannot start. Some servers say so and then hang. Nil knows no such line.
	Hopeless func(line string) bool
	// Dying reports that a line of the log, once the server was ready, is that of
	// one that cannot go on. Nil knows no such line.
	Dying func(line string) bool
	// Patience is the time in which a server is to end by itself after such a
	// line; zero is 30 s.
	Patience time.Duration
	// Budget bounds the time from start to ready; zero is 10 minutes.
	Budget time.Duration
	// Longer says how the user gets a longer budget, for the message; empty
	// is "raise the start budget".
	Longer string
	// Interval is the pause between two calls of Ready; zero is 250 ms.
	Interval time.Duration
}

const (
	defaultBudget   = 10 * time.Minute
	defaultPatience = 30 * time.Second
	defaultInterval = 250 * time.Millisecond
	defaultGrace    = 10 * time.Second
)

func (s *Spec) validate() error {
	var errs []error
	if s.Server.Name == "" {
		errs = append(errs, errors.New("process: Spec.Server.Name must not be empty"))
	}
	if s.Launcher == nil && (len(s.Server.Command) == 0 || s.Server.Command[0] == "") {
		errs = append(errs, errors.New("process: Spec.Server.Command must name a program"))
	}
	if s.Ready == nil {
		errs = append(errs, errors.New("process: Spec.Ready must not be nil"))
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"Budget", s.Budget}, {"Patience", s.Patience}, {"Interval", s.Interval}, {"Server.Grace", s.Server.Grace}} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("process: Spec.%s must not be negative, got %v", d.field, d.value))
		}
	}
	return errors.Join(errs...)
}

func (s *Spec) setDefaults(log io.Writer) {
	s.Server.Log = log
	if s.Launcher == nil {
		s.Launcher = child{}
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&s.Budget, defaultBudget}, {&s.Patience, defaultPatience}, {&s.Interval, defaultInterval}, {&s.Server.Grace, defaultGrace}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if s.Longer == "" {
		s.Longer = "raise the start budget"
	}
}

// arguments are those that do not depend on the place, for their secrets.
func (s *Spec) arguments() []string {
	if s.Server.Args == nil {
		return nil
	}
	return s.Server.Args(launch.Place{})
}
