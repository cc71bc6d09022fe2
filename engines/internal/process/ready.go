package process

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// tailLines is how many of the log's last lines a message carries.
const tailLines = 20

// finalError is an answer that waiting cannot change.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// Final marks an error of Spec.Ready that waiting cannot change, such as
// another model's name: the start ends at once. Final(nil) is nil.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return &finalError{err}
}

// errNoAnswer ends a question that a hung server leaves open.
var errNoAnswer = errors.New("there was no answer yet")

// awaitReady calls Ready until it succeeds, the program dies, its log holds no
// hope, the budget is spent or ctx ends. It does not stop the program.
func (p *Process) awaitReady(ctx context.Context) error {
	budget := time.NewTimer(time.Until(p.started.Add(p.spec.Budget)))
	defer budget.Stop()
	probing, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.log.attend(p.spec.Dying)
	var (
		last    error            // what Ready said
		omen    string           // the line that holds no hope
		patient <-chan time.Time // ends the patience with it
	)
	answer := make(chan error, 1)
	ask := func() { answer <- p.spec.Ready(probing, p.running.URL) }
	go ask()
	var pause <-chan time.Time
	for {
		select {
		case <-p.done:
			return p.died()
		case <-ctx.Done():
			return p.gaveUp(ctx, last)
		case omen = <-p.log.omen:
			patient = time.After(p.spec.Patience)
		case <-patient:
			return p.hopeless(omen)
		case <-budget.C:
			cancel(errNoAnswer) // the question still open says how far the server came
			if pause == nil {
				select {
				case err := <-answer:
					last = err
				case <-time.After(time.Second):
				}
			}
			return p.tooSlow(last)
		case err := <-answer:
			if err == nil {
				return p.stillAlive()
			}
			if final := (*finalError)(nil); errors.As(err, &final) {
				return p.refused(final.err)
			}
			last, pause = err, time.After(p.spec.Interval)
		case <-pause:
			pause = nil
			go ask()
		}
	}
}

// stillAlive guards against an answer from another server on the same port:
// ours died because the port was taken.
func (p *Process) stillAlive() error {
	select {
	case <-p.done:
		return p.died()
	default:
		return nil
	}
}

func (p *Process) died() error {
	return fmt.Errorf("start %s: %s", p.spec.Server.Name, p.obituary())
}

func (p *Process) gaveUp(ctx context.Context, last error) error {
	return fmt.Errorf("start %s: canceled after %v%s: %w",
		p.spec.Server.Name, p.age(), p.said(last), context.Cause(ctx))
}

func (p *Process) tooSlow(last error) error {
	return fmt.Errorf("start %s: not ready after %v%s; %s if it only needs longer, %s",
		p.spec.Server.Name, rounded(p.spec.Budget), p.said(last), p.spec.Longer, p.excerpt())
}

func (p *Process) hopeless(line string) error {
	return fmt.Errorf("start %s: it says that it cannot start and has not ended in the %v since (%q), %s",
		p.spec.Server.Name, rounded(p.spec.Patience), line, p.excerpt())
}

// lastGasp is how long a server that has said that it cannot go on may take to
// end by itself.
const lastGasp = 5 * time.Second

// Dying is Err, and waits for the end of a server that has said that it cannot go
// on: where what answers outlives what computes, the one ends a moment after the
// other, or never. Nil of one that has said no such thing, and after Stop.
func (p *Process) Dying(ctx context.Context) error {
	line := p.log.Dread()
	if p.isStopped() || line == "" {
		return p.Err(ctx)
	}
	patience := time.NewTimer(lastGasp)
	defer patience.Stop()
	select {
	case <-p.done:
	case <-ctx.Done():
	case <-patience.C:
	}
	if err := p.Err(ctx); err != nil || p.isStopped() {
		return err
	}
	return fmt.Errorf("%s: it has said that it cannot go on and has not ended (%q), %s", p.spec.Server.Name, line, p.excerpt())
}

func (p *Process) refused(err error) error {
	return fmt.Errorf("start %s: %s, %s", p.spec.Server.Name, p.redactor.text(err.Error()), p.excerpt())
}

func (p *Process) said(last error) string {
	if last == nil {
		return ""
	}
	return ": " + p.redactor.text(last.Error())
}

func (p *Process) age() time.Duration {
	return rounded(time.Since(p.started))
}

// obituary says how a program that is done has ended, as in
// "exited with code 1 after 12s, log in …; its last lines: …".
func (p *Process) obituary() string {
	return fmt.Sprintf("%s after %v, %s", p.running.Ended(), rounded(p.ended), p.excerpt())
}

func (p *Process) excerpt() string {
	lines := p.log.Tail(tailLines)
	if len(lines) == 0 {
		return "log in " + p.log.Path() + " is empty"
	}
	return "log in " + p.log.Path() + "; its last lines:\n" + indent(lines)
}

// rounded drops what nobody reads: milliseconds of a second, tenths of ten.
func rounded(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}
