//go:build unix

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openloop-go/openloop/engines/launch"
)

// The test binary plays every part: run again with roleName set it is a
// server, a worker, or a whole test binary that has started a server.
const (
	roleName = "PROCESS_TEST_ROLE"
	fifoName = "PROCESS_TEST_FIFO"
	// guardName names another pipe, which only the test binary and its watchdog
	// have open.
	guardName = "PROCESS_TEST_GUARD"
)

func TestMain(m *testing.M) {
	role, args, _ := strings.Cut(os.Getenv(roleName), " ")
	switch role {
	case "":
		os.Exit(run(m))
	case "fail": // a server that dies while loading
		fmt.Println("loading weights")
		fmt.Println("error: unknown architecture, key " + os.Getenv("HF_TOKEN"))
		os.Exit(3)
	case "kill": // a server that the kernel kills
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "hopeless": // a server that gives up, and hangs
		fmt.Println("loading weights\nScheduler hit an exception\nbye")
		select {}
	case "heeds": // says what ends it
		fmt.Println(endings)
	case "mute": // a server that never gets ready
		select {}
	case "serve":
		serve()
	case "front": // a server with workers, all deaf to TERM
		signal.Ignore(syscall.SIGTERM)
		rollCall("front")
		become("worker", false)
		become("daemon", true)
		if args == "dies" {
			os.Exit(1)
		}
		select {}
	case "worker", "daemon":
		signal.Ignore(syscall.SIGTERM)
		rollCall(role)
		select {}
	case "test": // a test binary with a server
		rollCall("test")
		if args == "handles" {
			handleInt()
		}
		var ready error
		if args == "starts" {
			ready = errors.New("not yet")
		}
		_, err := Start(context.Background(), Spec{
			Server: launch.Spec{
				Name: "server", Command: []string{os.Args[0]},
				Env: []string{roleName + "=front"}, Grace: 100 * time.Millisecond, Guarded: guarded(),
			},
			Ready: func(context.Context, string) error { return ready },
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {}
	}
}

// run runs the tests with a folder of their own for the logs. Nothing of the
// package's may run on afterwards.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "process-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir)
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// guarded is the file that the test has for the watchdog to keep open, if any.
func guarded() []*os.File {
	path := os.Getenv(guardName)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return []*os.File{f}
}

// handleInt is another signal handler of the kind that live.go speaks of: it
// does its work, steps aside, raises again.
func handleInt() {
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt)
	go func() {
		<-received
		rollCall("saved")
		signal.Stop(received)
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
}

func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for {
		if c, err := l.Accept(); err == nil {
			_ = c.Close()
		}
	}
}

// become starts this binary in another role.
func become(role string, session bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleName+"="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// rollCall writes a name to the test's named pipe and keeps the pipe open for
// as long as this process lives.
func rollCall(name string) {
	f, err := os.OpenFile(os.Getenv(fifoName), os.O_WRONLY, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Fprintln(f, name)
	kept = append(kept, f)
}

var kept []*os.File

// roll is the test's end of the named pipe: it hears who is there, and that
// the last one has gone.
type roll struct {
	path  string
	in    *bufio.Reader
	file  *os.File
	guard *os.File // a writer, so that the pipe does not end too early
}

func newRoll(t *testing.T) *roll {
	t.Helper()
	r := &roll{path: t.TempDir() + "/roll"}
	if err := syscall.Mkfifo(r.path, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.file, err = os.OpenFile(r.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	if r.guard, err = os.OpenFile(r.path, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.file.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.file.Close(), r.guard.Close() })
	r.in = bufio.NewReader(r.file)
	return r
}

// wait returns when all the named have answered.
func (r *roll) wait(t *testing.T, names ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, name := range names {
		missing[name] = true
	}
	for len(missing) > 0 {
		line, err := r.in.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %v: %v", missing, err)
		}
		delete(missing, strings.TrimSpace(line))
	}
}

// gone returns what was still said before the last one went, and fails the
// test when somebody survives.
func (r *roll) gone(t *testing.T) string {
	t.Helper()
	_ = r.guard.Close()
	rest, err := io.ReadAll(r.in)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("a process survived")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(rest)
}
