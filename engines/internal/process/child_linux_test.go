package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
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
