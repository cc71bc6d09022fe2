package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// sweep kills every process that carries the cookie in its environment: what
// a child started and what left the child's process group (a daemon, a worker
// in a session of its own). It returns how many outlived it.
func sweep(cookie string) int {
	const patience = 2 * time.Second
	for deadline := time.Now().Add(patience); ; {
		pids := carriers(cookie)
		if len(pids) == 0 || time.Now().After(deadline) {
			return len(pids)
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// carriers are the live processes that carry the cookie. One that has ended
// and waits to be reaped has no environment left, and is none.
func carriers(cookie string) []int {
	mark := []byte(cookieName + "=" + cookie)
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var pids []int
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
