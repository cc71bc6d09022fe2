// Package process runs an inference server as a child of the test binary and
// makes sure that it never outlives it: not after a failed test, a panic, a
// deadline, Ctrl-C, or a kill -9 of the test binary itself.
//
// Four things see to that, each for where the one before cannot act:
//
//   - Stop ends the whole process group, TERM first and KILL after a grace.
//   - While a child lives, SIGINT, SIGTERM and SIGHUP of this process stop it
//     first and are then raised again.
//   - A watchdog, a shell in a session of its own, holds the read end of a
//     pipe whose other end is open in this process only. However this process
//     dies, the pipe ends, and the watchdog kills the group.
//   - On Linux the child also gets a parent-death signal, and whatever left
//     the process group is found by a cookie in its environment.
package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// cookieName is the environment variable by which the descendants of a child
// are known.
const cookieName = "OPENLOOP_PROCESS"

// Process is a running child.
type Process struct {
	spec     Spec
	redactor *redactor
	log      *Log
	cmd      *exec.Cmd
	cookie   string
	watchdog *watchdog
	started  time.Time

	done  chan struct{}
	ended time.Duration // valid after done
	state *os.ProcessState

	mu      sync.Mutex
	stopped bool // Stop has been asked for
}

// Start starts the child and returns when it is ready. On any error the child
// and its group are gone. The messages are sentences for the user:
//
//	start vllm: exited with code 1 after 12s, log in /tmp/…; its last lines:
//	start vllm: not ready after 10m0s: …
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	spec.setDefaults()
	p, err := launch(spec)
	if err != nil {
		return nil, err
	}
	if err := p.awaitReady(ctx); err != nil {
		_ = p.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	return p, nil
}

// launch starts the child under all its guards, without waiting for it.
func launch(spec Spec) (*Process, error) {
	red := newRedactor(spec.Command, append(os.Environ(), spec.Env...), spec.Secrets)
	fail := func(err error) error { return fmt.Errorf("start %s: %w", spec.Name, err) }
	if _, err := exec.LookPath(spec.Command[0]); err != nil {
		return nil, fail(err)
	}
	log, err := openLog(spec.Name, spec.LogFile, red)
	if err != nil {
		return nil, fail(err)
	}
	p := &Process{spec: spec, redactor: red, log: log, cookie: newCookie(), done: make(chan struct{})}
	p.cmd = exec.Command(spec.Command[0], spec.Command[1:]...)
	p.cmd.Dir = spec.Dir
	p.cmd.Env = append(append(os.Environ(), spec.Env...), cookieName+"="+p.cookie)

	read, write, err := os.Pipe()
	if err != nil {
		_ = log.close()
		return nil, fail(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = write, write
	guard(p.cmd)
	p.watchdog = startWatchdog(p.cookie)
	p.started = time.Now()
	err = enlist(p)
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		p.watchdog.release()
		_ = log.close()
		return nil, fail(err)
	}
	p.watchdog.watch(p.cmd.Process.Pid)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		log.copyFrom(read)
	}()
	go p.reap(read, copied)
	return p, nil
}

// reap waits for the child, ends what it left behind, and closes done.
func (p *Process) reap(output *os.File, copied <-chan struct{}) {
	_ = p.cmd.Wait()
	p.ended = time.Since(p.started)
	p.state = p.cmd.ProcessState
	// A server whose front has died is dead: its workers hold the GPU.
	killGroup(p.cmd.Process.Pid)
	sweep(p.cookie)
	select {
	case <-copied:
	case <-time.After(time.Second): // a survivor holds the pipe
	}
	_ = output.Close()
	<-copied
	_ = p.log.close()
	p.watchdog.release()
	dismiss(p)
	close(p.done)
}

// Stop ends the child and everything it started: TERM to the group, KILL
// after the grace or when ctx ends, whichever is first. It returns when the
// child has been reaped, and an error only when something survived. It may be
// called again, and by several goroutines.
func (p *Process) Stop(ctx context.Context) error {
	p.mu.Lock()
	first := !p.stopped
	p.stopped = true
	p.mu.Unlock()
	if first {
		terminateGroup(p.cmd.Process.Pid)
	}
	grace := time.NewTimer(p.spec.Grace)
	defer grace.Stop()
	select {
	case <-p.done:
	case <-grace.C:
		killGroup(p.cmd.Process.Pid)
	case <-ctx.Done():
		killGroup(p.cmd.Process.Pid)
	}
	<-p.done
	if left := sweep(p.cookie); left > 0 {
		return fmt.Errorf("stop %s: %d of its processes could not be killed", p.spec.Name, left)
	}
	return nil
}

// Done is closed when the child has ended and has been reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the child ended, with its log's last lines; nil while it runs
// and after Stop.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil
	}
	return fmt.Errorf("%s: %s", p.spec.Name, p.obituary())
}

// Pid is the child's process id, which is also that of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Command is the command line, secrets removed.
func (p *Process) Command() string { return p.redactor.command(p.spec.Command) }

// Log is the child's log.
func (p *Process) Log() *Log { return p.log }

func newCookie() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// indent puts each line of s behind four spaces.
func indent(lines []string) string {
	return "    " + strings.Join(lines, "\n    ")
}
