package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
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
			b := &body{cookie: newCookie(), done: make(chan struct{})}
			close(b.done)
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
		died := p.Err()
		if err := p.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if died == nil || !strings.HasPrefix(died.Error(), "vllm: exited with code 3 after ") || !strings.HasSuffix(died.Error(), "\n    line 499\n    last words") {
			t.Fatalf("got %v", died)
		}
	}
}
