package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

// bystander is a process that leads a group and ends with its input.
func bystander(t *testing.T, env ...string) (cmd *exec.Cmd, end io.Closer) {
	t.Helper()
	cmd = exec.Command("cat")
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() })
	return cmd, in
}

// The pid of a child that has been reaped may be another's, which a stop leaves
// alone; what the child left behind it finds all the same.
func TestStopAfterTheEndSignalsNoPid(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"in time": t.Context(), "without time": ended} {
		t.Run(name, func(t *testing.T) {
			b := &body{cookie: newCookie(), exited: make(chan struct{}), done: make(chan struct{})}
			close(b.exited) // and what it left is being cleared away still
			time.AfterFunc(50*time.Millisecond, func() { close(b.done) })
			another, end := bystander(t)
			b.cmd = another // which has the pid now
			left, _ := bystander(t, cookieName+"="+b.cookie)
			for range 8 { // whichever end a stop sees first
				if err := b.stop(ctx); err != nil {
					t.Error(err)
				}
			}
			_ = left.Wait()
			if status := left.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Errorf("what was left: %v, want it killed", left.ProcessState)
			}
			_ = end.Close()
			if err := another.Wait(); err != nil {
				t.Errorf("another process with the pid: %v, want it left alone", err)
			}
		})
	}
}

// A child that the kernel does not let go, however it is killed, does not keep its
// stop for ever.
func TestStopOfAChildThatTheKernelHolds(t *testing.T) {
	held, _ := bystander(t)
	synctest.Test(t, func(t *testing.T) {
		b := &body{cmd: held, cookie: newCookie(), grace: time.Minute, exited: make(chan struct{}), done: make(chan struct{})}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := b.stop(ctx)
		want := fmt.Sprintf("pid %d has not ended 10s after it was killed: the kernel holds it, as a driver does while it frees a device; it goes when that is over", held.Process.Pid)
		if err == nil || err.Error() != want || time.Since(began) != 11*time.Second {
			t.Errorf("after %v\ngot  %v\nwant %s", time.Since(began), err, want)
		}
	})
}

// Where nothing tells of an end before the child is reaped, a moment is waited.
func TestEndThatIsToldByTheReaperAlone(t *testing.T) {
	for _, row := range []struct {
		name   string
		reaped time.Duration
		gone   bool
		took   time.Duration
	}{
		{"reaped before", 0, true, 0},
		{"reaped in a moment", 100 * time.Millisecond, true, 100 * time.Millisecond},
		{"at work", time.Hour, false, 250 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &body{untold: true, exited: make(chan struct{})}
				if row.reaped == 0 {
					close(b.exited)
				} else {
					defer time.AfterFunc(row.reaped, func() { close(b.exited) }).Stop()
				}
				began := time.Now()
				if gone := b.gone(); gone != row.gone || time.Since(began) != row.took {
					t.Errorf("gone %t after %v, want %t after %v", gone, time.Since(began), row.gone, row.took)
				}
			})
		})
	}
}

// However shortly before its stop a child dies, its death is told, with all that
// it said: it is found before it is reaped.
func TestChildThatDiesJustBeforeItsStop(t *testing.T) {
	for range 10 {
		p, err := Start(t.Context(), Spec{
			Server: launch.Spec{
				Name: "vllm", Command: []string{"sh", "-c", `echo loading; trap 'i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; echo last words; exit 3' USR1; echo ready; while :; do sleep 0.01; done`},
			},
			LogFile: filepath.Join(t.TempDir(), "log"),
			Ready:   func(context.Context, string) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimPrefix(p.ID(), "pid "))
		if err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(strings.Join(p.Log().Tail(9), "|"), "ready") {
			time.Sleep(time.Millisecond)
		}
		if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		for !undead(pid) && syscall.Kill(pid, 0) == nil {
			time.Sleep(50 * time.Microsecond)
		}
		died := p.Err(t.Context())
		if err := p.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if died == nil || !strings.HasPrefix(died.Error(), "vllm: exited with code 3 after ") || !strings.HasSuffix(died.Error(), "\n    line 499\n    last words") {
			t.Fatalf("got %v", died)
		}
	}
}
