// Package process runs an inference server, as a child of the test binary or
// through a launcher, and makes sure that it never outlives the test binary:
// not after a failed test, a panic, a deadline, Ctrl-C, or a kill -9 of the
// test binary itself.
//
// Two things see to that for every launcher: Stop, and that SIGINT, SIGTERM
// and SIGHUP of this process stop what runs first and are then raised again.
// Where neither can act the launcher has guards of its own; child.go has those
// of a child.
package process

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

// Process is a server's program that runs.
type Process struct {
	spec     Spec
	redactor *redactor
	log      *Log
	started  time.Time

	launched chan struct{}      // closed when the launcher has returned
	abandon  context.CancelFunc // ends what the launcher is doing
	running  *launch.Running    // valid after launched; nil when it failed

	done  chan struct{}
	ended time.Duration // valid after done

	mu      sync.Mutex
	stopped bool // Stop has been asked for
}

// Start starts the server and returns when it is ready. On any error nothing
// of it is left. The messages are sentences for the user:
//
//	start vllm: exited with code 1 after 12s, log in /tmp/…; its last lines:
//	start vllm: not ready after 10m0s: …
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	red := newRedactor(slices.Concat(spec.Server.Command, spec.arguments()),
		append(os.Environ(), spec.Server.Env...), spec.Secrets)
	log, err := openLog(spec.Server.Name, spec.LogFile, red)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Server.Name, err)
	}
	spec.setDefaults(log)
	p := &Process{
		spec: spec, redactor: red, log: log, started: time.Now(),
		launched: make(chan struct{}), done: make(chan struct{}),
	}
	log.watch(spec.Hopeless)
	if err := p.launch(ctx); err != nil {
		return nil, p.unlessCalledOff(err)
	}
	if err := p.awaitReady(ctx); err != nil {
		_ = p.Stop(context.WithoutCancel(ctx))
		return nil, p.unlessCalledOff(err)
	}
	return p, nil
}

// unlessCalledOff is err, or that a signal has called the start off.
func (p *Process) unlessCalledOff(err error) error {
	if sig := calledOff(); sig != nil {
		return fmt.Errorf("start %s: called off by signal: %v", p.spec.Server.Name, sig)
	}
	return err
}

// launch has the launcher start the program, within the budget.
func (p *Process) launch(ctx context.Context) error {
	bounded, cancel := context.WithDeadline(ctx, p.started.Add(p.spec.Budget))
	defer cancel()
	p.abandon = cancel
	enlist(p)
	running, err := p.spec.Launcher.Launch(bounded, p.spec.Server)
	if err == nil {
		if err = complete(running); err != nil && running != nil && running.Stop != nil {
			if left := running.Stop(context.WithoutCancel(ctx)); left != nil {
				err = fmt.Errorf("%w; and it could not be stopped: %w", err, left)
			}
		}
	}
	if err != nil {
		close(p.launched)
		dismiss(p)
		close(p.done)
		_ = p.log.close()
		switch {
		case ctx.Err() != nil:
			return p.gaveUp(ctx, err)
		case bounded.Err() == context.DeadlineExceeded:
			return p.tooSlow(err)
		}
		return fmt.Errorf("start %s: %s", p.spec.Server.Name, p.redactor.text(err.Error()))
	}
	p.running = running
	close(p.launched)
	go p.reap()
	return nil
}

// complete reports what a launcher left out.
func complete(r *launch.Running) error {
	if r == nil || r.URL == "" || r.ID == "" || r.Done == nil || r.Ended == nil || r.Stop == nil {
		return fmt.Errorf("the launcher must fill URL, ID, Done, Ended and Stop of launch.Running, got %+v", r)
	}
	return nil
}

// reap waits for the program's end, and closes done.
func (p *Process) reap() {
	<-p.running.Done
	p.ended = time.Since(p.started)
	_ = p.log.close()
	dismiss(p)
	close(p.done)
}

// Stop ends the program and everything it started: it is asked first, and
// killed after the grace or when ctx ends, whichever is first. It returns when
// the program is gone, and an error only when something survived. It may be
// called again, and by several goroutines.
func (p *Process) Stop(ctx context.Context) error {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.abandon()
	select {
	case <-p.launched:
	case <-ctx.Done():
		return fmt.Errorf("stop %s: it is still being started: %w", p.spec.Server.Name, context.Cause(ctx))
	}
	if p.running == nil {
		return nil
	}
	if err := p.running.Stop(ctx); err != nil {
		return fmt.Errorf("stop %s: %s", p.spec.Server.Name, p.redactor.text(err.Error()))
	}
	<-p.done
	return nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program ended by itself, with its log's last lines; nil while
// it runs, and of one that has been stopped. For one that has just ended it waits
// until what that left has been cleared away and all that was printed is in the
// log, or ctx ends, when it says so much as is known.
func (p *Process) Err(ctx context.Context) error {
	// In this order: what is gone before anybody has asked for a stop has ended
	// by itself, whoever asks for one from here on.
	if !p.Gone() || p.isStopped() {
		return nil
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done: // both at once
		default:
			return fmt.Errorf("%s: has ended, and how is not known yet (%w), %s", p.spec.Server.Name, context.Cause(ctx), p.excerpt())
		}
	}
	return fmt.Errorf("%s: %s", p.spec.Server.Name, p.obituary())
}

// isStopped reports that Stop has been asked for.
func (p *Process) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// Gone reports that the program has ended.
func (p *Process) Gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return p.running.Gone != nil && p.running.Gone()
	}
}

// AwaitEnd waits a little for a program that seems to have ended, as its
// connections have, and is not known to: a container's end takes a while to be.
func (p *Process) AwaitEnd(ctx context.Context, limit time.Duration) {
	over := time.NewTimer(limit)
	defer over.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !p.Gone() {
		select {
		case <-p.done:
		case <-again.C:
		case <-over.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Obituary says in one line how the program ended and where its log is; empty
// while that is not known.
func (p *Process) Obituary() string {
	select {
	case <-p.done:
		return fmt.Sprintf("%s %s after %v, log in %s", p.spec.Server.Name, p.running.Ended(), rounded(p.ended), p.log.Path())
	default:
		return ""
	}
}

// URL is where the server is reached.
func (p *Process) URL() string { return p.running.URL }

// ID names this start: "pid 4711".
func (p *Process) ID() string { return p.running.ID }

// Local reports that the program computes on this host.
func (p *Process) Local() bool { return p.running.Local }

// Settings are the launcher's facts about this start.
func (p *Process) Settings() map[string]string { return p.running.Settings }

// Command is the command line, secrets removed.
func (p *Process) Command() string { return p.redactor.command(p.running.Command) }

// Log is the program's log.
func (p *Process) Log() *Log { return p.log }

// indent puts each line of s behind four spaces.
func indent(lines []string) string {
	return "    " + strings.Join(lines, "\n    ")
}
