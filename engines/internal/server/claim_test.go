//go:build unix

package server

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/internal/lock"
	"github.com/openloop-go/openloop/engines/launch"
)

// holdsName makes this binary another test binary, one that holds the resource
// of that name until its input ends.
const holdsName = "SERVER_TEST_HOLDS"

// holdsNow makes it wait for nothing.
const holdsNow = "SERVER_TEST_HOLDS_NOW"

func init() {
	name := os.Getenv(holdsName)
	if name == "" {
		return
	}
	_, err := lock.Acquire(context.Background(), lock.Request{Resources: []string{name}, Folder: os.Getenv("OPENLOOP_LOCKS"), Owner: "TestOther", Now: os.Getenv(holdsNow) != ""})
	fmt.Println("holding", err)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	os.Exit(0)
}

// another starts a test binary that holds a resource, and returns what ends it.
func another(t *testing.T, name string) (end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdsName+"="+name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "holding <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return func() { _ = in.Close() }
}

// onLog is a test that does something at its first line.
type onLog struct {
	*fake
	do func()
}

func (f *onLog) Name() string { return "TestOfThis" }
func (f *onLog) Logf(format string, args ...any) {
	f.fake.Logf(format, args...)
	if f.do != nil {
		f.do()
		f.do = nil
	}
}

var aHolder = regexp.MustCompile(`server\.test\S* \(pid \d+, TestOther, in \S+\) has held since [\d:]+\d`)

var waited = regexp.MustCompile(`(waited )\d+s`)

// A server is not started while another test binary measures on its device.
func TestStartWaitsForTheDevice(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	end := another(t, lock.CPU)
	f := &onLog{&fake{TB: t}, end}
	s, err := start(f, testKind(), launch.Config{Model: "m", Args: []string{"--device=cpu"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.logs) != 3 || aHolder.ReplaceAllString(f.logs[0], "~") != "vllm: waiting for cpu, which ~ (waited 0s)" ||
		!strings.HasPrefix(f.logs[1], "vllm: cpu is free, after ") || !strings.HasPrefix(f.logs[2], "vllm: started ") {
		t.Errorf("logs %q", f.logs)
	}
	f.cleanups[0]()
	another(t, lock.CPU) // it is free again
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// What is at a URL is one engine, whoever attaches to it.
func TestAttachWaitsForTheServer(t *testing.T) {
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	another(t, "http://127.0.0.1:8000")
	f := &onLog{fake: &fake{TB: t, deadline: time.Now().Add(reserve + 300*time.Millisecond)}}
	_, err := start(f, testKind(), launch.Config{URL: "http://localhost:8000/"})
	const want = "attach vllm: waited ~ for http://127.0.0.1:8000, which ~: the test's deadline is in 15s: raise -timeout; " +
		"give the tests more time, or run one after the other (go test -p 1, without t.Parallel)"
	if err == nil || waited.ReplaceAllString(aHolder.ReplaceAllString(err.Error(), "~"), "${1}~") != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if len(f.logs) != 1 || len(f.cleanups) != 0 {
		t.Errorf("logs %q, %d cleanups", f.logs, len(f.cleanups))
	}
}

// A start that fails leaves its device to others.
func TestAFailedStartGivesTheDeviceBack(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	if _, err := Launch(t.Context(), testKind(), launch.Config{Model: "m", Args: []string{"--device=cpu"}, Env: []string{roleName + "=gpuless"}}); err == nil {
		t.Fatal("started")
	}
	another(t, lock.CPU)
}
