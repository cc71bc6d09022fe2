//go:build unix

package process

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// watchdogScript reads the group's id, then waits. Another line means that
// all is well; the end of the pipe, that the parent has died. The sweep at
// the end is that of sweep_linux.go, for where /proc exists.
const watchdogScript = `
IFS= read -r group || group=
if [ -n "$group" ]; then
	IFS= read -r ended && exit 0
	kill -s TERM -- "-$group"
	n=0
	while [ $n -lt 20 ] && kill -s 0 -- "-$group"; do sleep 0.1; n=$((n+1)); done
	kill -s KILL -- "-$group"
fi
for file in /proc/[0-9]*/environ; do
	if grep -qsa "$1" "$file"; then
		pid=${file#/proc/}
		kill -s KILL "${pid%/environ}"
	fi
done
`

// watchdog outlives this process, in a session of its own, for as long as it
// takes to kill what this process left. Nil where there is no shell.
type watchdog struct {
	cmd      *exec.Cmd
	pipe     io.WriteCloser
	watching bool
}

// startWatchdog starts the watchdog before there is anything to watch, so
// that there is no moment without it.
func startWatchdog(cookie string) *watchdog {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "openloop-watchdog", cookieName+"="+cookie)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	if err := cmd.Start(); err != nil {
		_ = pipe.Close()
		return nil // a system without a shell: the death signal remains
	}
	return &watchdog{cmd: cmd, pipe: pipe}
}

// watch names the process group to kill when this process dies.
func (w *watchdog) watch(group int) {
	if w == nil {
		return
	}
	w.watching = true
	_, _ = io.WriteString(w.pipe, strconv.Itoa(group)+"\n")
}

// release ends the watchdog: what it watched is gone.
func (w *watchdog) release() {
	if w == nil {
		return
	}
	if w.watching {
		_, _ = io.WriteString(w.pipe, "ended\n")
	}
	_ = w.pipe.Close()
	_ = w.cmd.Wait()
}
