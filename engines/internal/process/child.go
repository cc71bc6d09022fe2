package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

// child is the launcher of children of this process. Three things keep a child
// from outliving it where Stop cannot act:
//
//   - A watchdog, a shell in a session of its own, holds the read end of a
//     pipe whose other end is open in this process only. However this process
//     dies, the pipe ends, and the watchdog kills the child's process group.
//   - On Linux the child also gets a parent-death signal,
//   - and whatever left the process group is found by a cookie in its
//     environment.
type child struct{}

// cookieName is the environment variable by which the descendants of a child
// are known.
const cookieName = "OPENLOOP_PROCESS"

// body is a child that runs.
type body struct {
	cmd      *exec.Cmd
	cookie   string
	grace    time.Duration
	watchdog *watchdog
	untold   bool          // nothing tells of its end before it is reaped
	exited   chan struct{} // closed when the child itself has ended
	done     chan struct{} // and when what it left has, too
	asked    sync.Once     // TERM is sent once
}

// Launch implements launch.Launcher.
func (child) Launch(_ context.Context, spec launch.Spec) (*launch.Running, error) {
	if _, err := exec.LookPath(spec.Command[0]); err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	at := launch.Place{Host: "127.0.0.1", Port: port, Temp: os.TempDir()}
	command := spec.Command
	if spec.Args != nil {
		command = slices.Concat(command, spec.Args(at))
	}
	b := &body{cookie: newCookie(), grace: spec.Grace, untold: untold, exited: make(chan struct{}), done: make(chan struct{})}
	b.cmd = exec.Command(command[0], command[1:]...)
	b.cmd.Dir = spec.Dir
	b.cmd.Env = append(append(os.Environ(), spec.Env...), cookieName+"="+b.cookie)
	if err := b.start(spec); err != nil {
		return nil, err
	}
	return &launch.Running{
		URL:     "http://127.0.0.1:" + strconv.Itoa(port),
		ID:      "pid " + strconv.Itoa(b.cmd.Process.Pid),
		Command: command,
		Local:   true,
		Done:    b.done,
		Ended:   func() string { return howEnded(b.cmd.ProcessState) },
		Gone:    b.gone,
		Stop:    b.stop,
	}, nil
}

// start starts the child under all its guards.
func (b *body) start(spec launch.Spec) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	b.cmd.Stdout, b.cmd.Stderr = write, write
	guard(b.cmd)
	b.watchdog = startWatchdog(b.cookie, spec.Guarded)
	err = spawn(b.cmd)
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		b.watchdog.release()
		return err
	}
	b.watchdog.watch(b.cmd.Process.Pid)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		copyLines(spec.Log, read)
	}()
	go b.reap(read, copied)
	return nil
}

// reaping is how long a child that has ended may take to be reaped, which here is
// soon.
const reaping = 250 * time.Millisecond

// gone reports that the child has ended, whether or not it has been reaped. Where
// nothing tells of an end before that, it waits a moment for it.
func (b *body) gone() bool {
	if b.untold {
		over := time.NewTimer(reaping)
		defer over.Stop()
		select {
		case <-b.exited:
			return true
		case <-over.C:
			return false
		}
	}
	select {
	case <-b.exited:
		return true
	default:
		return undead(b.cmd.Process.Pid)
	}
}

// reap waits for the child, ends what it left behind, and closes done.
func (b *body) reap(output *os.File, copied <-chan struct{}) {
	_ = b.cmd.Wait()
	close(b.exited)
	// A server whose front has died is dead: its workers hold the GPU.
	killGroup(b.cmd.Process.Pid)
	patience := 5 * time.Second // a busy host takes its time
	if sweep(b.cookie) > 0 {
		patience = time.Second // a survivor holds the pipe
	}
	select {
	case <-copied:
	case <-time.After(patience):
	}
	_ = output.Close()
	<-copied
	b.watchdog.release()
	close(b.done)
}

// killed is how long a child may take to end that was killed, and what it left to
// be cleared away: a moment, unless the kernel holds it.
const killed = 10 * time.Second

// stop ends the process group, TERM first and KILL after the grace.
func (b *body) stop(ctx context.Context) error {
	b.asked.Do(func() { b.unlessExited(terminateGroup) })
	grace := time.NewTimer(b.grace)
	defer grace.Stop()
	select {
	case <-b.done:
	case <-grace.C:
		b.unlessExited(killGroup)
	case <-ctx.Done():
		b.unlessExited(killGroup)
	}
	late := time.NewTimer(killed)
	defer late.Stop()
	select {
	case <-b.done:
	case <-late.C:
		return fmt.Errorf("pid %d has not ended %v after it was killed: the kernel holds it, as a driver does while it frees a device; it goes when that is over",
			b.cmd.Process.Pid, killed)
	}
	if left := sweep(b.cookie); left > 0 {
		return fmt.Errorf("%d of its processes could not be killed", left)
	}
	return nil
}

// unlessExited signals the child's group, unless the child has been reaped and its
// pid may be another's by now. What such a child has left is reap's to end.
func (b *body) unlessExited(signal func(pid int)) {
	select {
	case <-b.exited:
	default:
		signal(b.cmd.Process.Pid)
	}
}

func newCookie() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}
