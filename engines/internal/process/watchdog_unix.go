//go:build unix

package process

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watchdogScript reads the group's id, then waits. Another line means that
// all is well; the end of the pipe, that the parent has died. The sweep at
// the end is that of sweep_linux.go, for where /proc exists. It ends when what
// it has killed is gone, so that whoever waits for the files that it keeps open
// finds the devices free.
const watchdogScript = `
lives() { # lives GROUP TENTHS: waits for its end, and fails once it has come
	n=0
	while kill -s 0 -- "-$1"; do
		[ $n -lt "$2" ] || return 0
		sleep 0.1
		n=$((n+1))
	done
	return 1
}
IFS= read -r group || group=
if [ -n "$group" ]; then
	IFS= read -r ended && exit 0
	kill -s TERM -- "-$group"
	if lives "$group" 20; then
		kill -s KILL -- "-$group"
		lives "$group" 50
	fi
fi
n=0
while [ $n -lt 50 ]; do
	files=$(grep -lsa "$1" /proc/[0-9]*/environ)
	[ -n "$files" ] || exit 0
	for file in $files; do
		pid=${file#/proc/}
		kill -s KILL "${pid%/environ}"
	done
	sleep 0.1
	n=$((n+1))
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
func startWatchdog(cookie string, guarded []*os.File) *watchdog {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "openloop-watchdog", cookieName+"="+cookie)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	cmd.ExtraFiles = guarded
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
