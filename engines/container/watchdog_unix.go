//go:build unix

package container

import (
	"os"
	"os/exec"
	"syscall"
)

// deadly are the signals that a watchdog outlives: they are for its owner.
var deadly = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// apart gives the watchdog a session of its own, which no terminal and no kill
// of the owner's process group reaches.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
