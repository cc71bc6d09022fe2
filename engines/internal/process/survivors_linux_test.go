package process

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

// A stop ends workers that are deaf to TERM, and those in another session.
func TestStopLeavesNobody(t *testing.T) {
	r := newRoll(t)
	p, err := Start(t.Context(), Spec{
		Server: launch.Spec{
			Name: "vllm", Command: []string{os.Args[0]},
			Env: []string{roleName + "=front", fifoName + "=" + r.path}, Grace: 50 * time.Millisecond,
		},
		Ready: func(context.Context, string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.wait(t, "front", "worker", "daemon")
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	r.gone(t)
}

// hangupIgnored is asked before anything of this package catches the signal.
var hangupIgnored = signal.Ignored(syscall.SIGHUP)

// However the test binary ends, nobody survives it.
func TestKilledTestBinaryLeavesNobody(t *testing.T) {
	tests := []struct {
		name   string
		role   string
		signal syscall.Signal
		group  bool // the signal goes to the whole group of the test binary
		ends   syscall.Signal
		says   string
	}{
		{"kill -9", "test", syscall.SIGKILL, false, syscall.SIGKILL, ""},
		{"kill -9 of its process group", "test", syscall.SIGKILL, true, syscall.SIGKILL, ""},
		{"kill -TERM", "test", syscall.SIGTERM, false, syscall.SIGTERM, ""},
		{"kill -INT", "test", syscall.SIGINT, false, syscall.SIGINT, ""},
		{"kill -HUP", "test", syscall.SIGHUP, false, syscall.SIGHUP, ""},
		{"kill -ABRT, which nobody handles", "test", syscall.SIGABRT, false, 0, ""},
		{"kill -TERM while its server starts", "test starts", syscall.SIGTERM, false, syscall.SIGTERM, ""},
		{"kill -INT beside another handler", "test handles", syscall.SIGINT, false, syscall.SIGINT, "saved\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.signal == syscall.SIGHUP && hangupIgnored {
				t.Skip("SIGHUP is ignored here, as under nohup, and children inherit that")
			}
			r := newRoll(t)
			binary := exec.Command(os.Args[0])
			binary.Env = append(os.Environ(), roleName+"="+test.role, fifoName+"="+r.path)
			binary.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := binary.Start(); err != nil {
				t.Fatal(err)
			}
			r.wait(t, "test", "front", "worker", "daemon")
			pid := binary.Process.Pid
			if test.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, test.signal); err != nil {
				t.Fatal(err)
			}
			_ = binary.Wait()
			if got := r.gone(t); got != test.says {
				t.Errorf("said %q, want %q", got, test.says)
			}
			status := binary.ProcessState.Sys().(syscall.WaitStatus)
			if test.ends != 0 && (!status.Signaled() || status.Signal() != test.ends) {
				t.Errorf("ended with %v, want signal %v", binary.ProcessState, test.ends)
			}
		})
	}
}

// What the watchdog keeps open stays open until all that it ends is gone: a
// lock on a device is not free before the device is.
func TestGuardedFilesOutliveTheServer(t *testing.T) {
	r, guard := newRoll(t), newRoll(t)
	binary := exec.Command(os.Args[0])
	binary.Env = append(os.Environ(), roleName+"=test", fifoName+"="+r.path, guardName+"="+guard.path)
	if err := binary.Start(); err != nil {
		t.Fatal(err)
	}
	r.wait(t, "test", "front", "worker", "daemon")
	if err := binary.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = binary.Wait()
	guard.gone(t)
	if err := r.file.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	r.gone(t) // at once: who is still there has outlived the watchdog
}

// Under nohup a hangup ends nothing: neither the test binary nor its servers.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	for command, want := range map[string]string{
		`exec "$0"`:              "[interrupt terminated hangup]\n",
		`trap "" HUP; exec "$0"`: "[interrupt terminated]\n",
	} {
		if hangupIgnored && want != "[interrupt terminated]\n" {
			continue
		}
		cmd := exec.Command("/bin/sh", "-c", command, os.Args[0])
		cmd.Env = append(os.Environ(), roleName+"=heeds")
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Errorf("%s: got %q, %v, want %q", command, out, err, want)
		}
	}
}
