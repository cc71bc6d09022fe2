package process

import (
	"os/exec"
	"runtime"
)

// spawner makes children on a thread of its own. Linux sends the parent-death
// signal when the *thread* that made the child ends, and the Go runtime ends
// a thread when a goroutine that is locked to it returns; so the thread stays
// for as long as there are servers.
type spawner chan spawnJob

type spawnJob struct {
	cmd  *exec.Cmd
	done chan error
}

func newSpawner() spawner {
	jobs := make(spawner)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with us
		for job := range jobs {
			job.done <- job.cmd.Start()
		}
	}()
	return jobs
}

func (s spawner) start(cmd *exec.Cmd) error {
	job := spawnJob{cmd, make(chan error, 1)}
	s <- job
	return <-job.done
}

// end lets the thread go. No child may be left.
func (s spawner) end() { close(s) }
