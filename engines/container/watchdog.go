package container

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
)

// watchdogVariable makes this program, run again, the watchdog of the process
// that it names: an owner.
const watchdogVariable = "OPENLOOP_CONTAINER_WATCHDOG"

// farewell is what an owner says that needs its watchdog no longer.
const farewell = "farewell\n"

func init() {
	if owner := os.Getenv(watchdogVariable); owner != "" {
		signal.Ignore(deadly...)
		watchdog(os.Stdin, owner)
		os.Exit(0)
	}
}

// watchdog waits until the owner's end of the pipe is gone, which is when the
// owner is, however it ended, and removes all its containers.
func watchdog(pipe io.Reader, owner string) {
	if line, _ := bufio.NewReader(pipe).ReadString('\n'); line == farewell {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	d, err := connect(ctx)
	if err != nil {
		return
	}
	// A container whose creation was under way appears a little later.
	for quiet := 0; quiet < 3 && ctx.Err() == nil; {
		removed, err := d.remove(ctx, owner, func(container.Summary) bool { return true })
		if err == nil && len(removed) == 0 {
			quiet++
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// guard is a watchdog that watches. Nil where none could be started: the next
// start removes what this process leaves.
type guard struct {
	pipe io.WriteCloser
	cmd  *exec.Cmd
	once sync.Once
}

// watch starts the watchdog before there is a container, so that there is no
// moment without it. It keeps the files open for as long as it lives.
func watch(guarded []*os.File) *guard {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), watchdogVariable+"="+self().String())
	cmd.Dir = os.TempDir()
	cmd.ExtraFiles = guarded
	apart(cmd)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	if err := cmd.Start(); err != nil {
		_ = pipe.Close()
		return nil
	}
	return &guard{pipe: pipe, cmd: cmd}
}

// release ends the watchdog: what it watched is gone.
func (g *guard) release() {
	if g == nil {
		return
	}
	g.once.Do(func() {
		_, _ = io.WriteString(g.pipe, farewell)
		_ = g.pipe.Close()
		_ = g.cmd.Wait()
	})
}
