//go:build !unix

package process

import (
	"fmt"
	"os"
	"os/exec"
)

// Without process groups only the child itself can be ended, and nothing
// guards it against the death of this process.

var endings = []os.Signal{os.Interrupt}

func guard(*exec.Cmd) {}

func terminateGroup(pid int) { killGroup(pid) }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func raise(os.Signal) { os.Exit(1) }

func howEnded(state *os.ProcessState) string {
	return fmt.Sprintf("exited with code %d", state.ExitCode())
}

type watchdog struct{}

func startWatchdog(string, []*os.File) *watchdog { return nil }
func (*watchdog) watch(int)                      {}
func (*watchdog) release()                       {}
