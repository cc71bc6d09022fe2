//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// endings are the signals that end this process and can be caught.
var endings = heeded(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)

// guard gives the child a session, and so a process group, of its own: the
// terminal's Ctrl-C reaches this process only, which stops the child in order.
func guard(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	setDeathSignal(cmd.SysProcAttr)
}

func terminateGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }
func killGroup(pid int)      { _ = syscall.Kill(-pid, syscall.SIGKILL) }

func raise(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		_ = syscall.Kill(os.Getpid(), s)
	}
}

// howEnded says how a child ended: "exited with code 1", or "killed by
// signal: killed", with what kills with 9 as a rule.
func howEnded(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return fmt.Sprintf("exited with code %d", state.ExitCode())
	}
	if status.Signal() == syscall.SIGKILL {
		return "killed by signal 9 (often the kernel, out of memory)"
	}
	return fmt.Sprintf("killed by signal %d (%v)", status.Signal(), status.Signal())
}
