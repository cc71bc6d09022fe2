//go:build linux

package killtest

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// ending is a way in which a test binary ends. What it does by itself it is
// told beforehand, with the time.
type ending struct {
	name string
	// signal is sent to it, to its whole process group where group is set.
	signal syscall.Signal
	group  bool
	// itself is what it does by itself.
	itself string
	// deadline is the flag -test.timeout.
	deadline bool
	// code is the exit code; of a signal it is ignored where the signal ends
	// it.
	code int
}

var endings = []ending{
	{name: "SIGINT", signal: syscall.SIGINT},
	{name: "SIGINT to its group (Ctrl-C)", signal: syscall.SIGINT, group: true},
	{name: "SIGTERM", signal: syscall.SIGTERM},
	{name: "SIGHUP", signal: syscall.SIGHUP},
	{name: "SIGQUIT", signal: syscall.SIGQUIT, code: 2}, // Go prints the goroutines and exits
	{name: "SIGKILL", signal: syscall.SIGKILL},
	{name: "SIGKILL to its group", signal: syscall.SIGKILL, group: true},
	{name: "a panic in a goroutine", itself: "panic", code: 2},
	{name: "a fatal error of the runtime", itself: "fatal", code: 2},
	{name: "os.Exit", itself: "exit", code: 3},
	{name: "the deadline (-timeout)", deadline: true, code: 2},
}

const (
	endingName = "KILLTEST_ENDING"
	afterName  = "KILLTEST_AFTER"
)

// arm has this victim end by itself, if it is to.
func arm() error {
	itself := os.Getenv(endingName)
	if itself == "" {
		return nil
	}
	after, err := time.ParseDuration(os.Getenv(afterName))
	if err != nil {
		return err
	}
	time.AfterFunc(after, func() {
		switch itself {
		case "panic":
			panic("as planned")
		case "exit":
			os.Exit(3)
		case "fatal": // which nothing can recover
			m := map[int]int{}
			for range 8 {
				go func() {
					for i := 0; ; i++ {
						m[i%4] = i
					}
				}()
			}
		default:
			fmt.Fprintf(os.Stderr, "unknown ending %q\n", itself)
			os.Exit(9)
		}
	})
	return nil
}

// ended reports whether the victim ended as the ending has it. One that was
// through before is well as well.
func (e *ending) ended(status syscall.WaitStatus) bool {
	if status.Exited() && (status.ExitStatus() == 0 || e.code != 0 && status.ExitStatus() == e.code) {
		return true
	}
	return e.signal != 0 && e.code == 0 && status.Signaled() && status.Signal() == e.signal
}
