package container

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
)

// watchdogVariable makes this program, run again, the watchdog of the process
// that it names: an owner.
const watchdogVariable = "OPENLOOP_CONTAINER_WATCHDOG"

// What an owner tells its watchdog, in lines: that a container is being created,
// by its name, that none is any longer, and that it needs no watchdog any more.
const (
	creating = "creating "
	created  = "created"
	farewell = "farewell"
)

func init() {
	if owner := os.Getenv(watchdogVariable); owner != "" {
		signal.Ignore(deadly...)
		watchdog(os.Stdin, owner)
		os.Exit(0)
	}
}

const (
	// vigil is how long a watchdog tries.
	vigil = 2 * time.Minute
	// late is how long a container may take to appear whose creation was under
	// way as its owner died. What comes later is for the next start.
	late = 10 * time.Second
	// again is how long a watchdog waits until it looks again.
	again = 500 * time.Millisecond
)

// watchdog waits until the owner's end of the pipe is gone, which is when the
// owner is, however it ended, and removes all its containers.
func watchdog(pipe io.Reader, owner string) {
	expected := ""
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		switch line := lines.Text(); line {
		case farewell:
			return
		case created:
			expected = ""
		default:
			expected = strings.TrimPrefix(line, creating)
		}
	}
	died := time.Now()
	ctx, cancel := context.WithDeadline(context.Background(), died.Add(vigil))
	defer cancel()
	d := persist(ctx)
	if d == nil {
		return
	}
	for quiet := 0; ctx.Err() == nil && (quiet < 3 || expected != "" && time.Since(died) < late); {
		quiet++
		_, err := d.remove(ctx, owner, func(c container.Summary) bool {
			quiet = 0
			if name(c) == expected {
				expected = ""
			}
			return true
		})
		if err != nil {
			quiet = 0
		}
		time.Sleep(again)
	}
}

// persist connects to the daemon, which on a busy host does not always answer
// at once. Nil is that it did not until the end of ctx.
func persist(ctx context.Context) *daemon {
	for ctx.Err() == nil {
		if d, err := connect(ctx); err == nil {
			return d
		}
		time.Sleep(again)
	}
	return nil
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

// expect tells the watchdog which container is being created; empty is that
// none is.
func (g *guard) expect(name string) {
	switch {
	case g == nil:
	case name == "":
		_, _ = io.WriteString(g.pipe, created+"\n")
	default:
		_, _ = io.WriteString(g.pipe, creating+name+"\n")
	}
}

// staying are the watchdogs for the end of this process: a pipe that nothing
// refers to is closed by the collector, and its watchdog takes that for the end.
var staying struct {
	sync.Mutex
	guards []*guard
}

// stay keeps the watchdog until this process ends.
func (g *guard) stay() {
	if g == nil {
		return
	}
	staying.Lock()
	defer staying.Unlock()
	staying.guards = append(staying.guards, g)
}

// release ends the watchdog: what it watched is gone.
func (g *guard) release() {
	if g == nil {
		return
	}
	g.once.Do(func() {
		_, _ = io.WriteString(g.pipe, farewell+"\n")
		_ = g.pipe.Close()
		_ = g.cmd.Wait()
	})
}
