//go:build linux

package killtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// The test binary plays every part: a test binary that is killed, the server
// that it starts, and a worker of that server's.
const (
	roleName = "KILLTEST_ROLE"
	// markName marks a victim and everything that comes from it.
	markName = "KILLTEST_MARK"
	// programName is the path of the program openloop.
	programName = "KILLTEST_PROGRAM"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleName) {
	case "":
		os.Exit(run(m))
	case "victim":
		err = arm()
		if err == nil {
			os.Exit(m.Run())
		}
	case "server":
		err = serve()
	case "worker": // as an engine's, deaf to whatever asks it to end
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
		for {
			time.Sleep(time.Hour)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(9)
}

// serve becomes the embedded engine, with a worker in a session of its own.
func serve() error {
	worker := exec.Command(os.Args[0])
	worker.Env = append(os.Environ(), roleName+"=worker")
	worker.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := worker.Start(); err != nil {
		return err
	}
	program := os.Getenv(programName)
	return syscall.Exec(program, slices.Concat([]string{program, "sim"}, os.Args[1:]), os.Environ())
}

// run builds the program, runs the tests and cleans up.
func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "openloop-killtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "openloop")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "../../../ci/openloop")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // it is also all that a container holds
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the embedded engine: %v\n%s", err, out)
		return 1
	}
	_ = os.Setenv(programName, program)
	tearDown, err := prepare(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer tearDown()
	return m.Run()
}
