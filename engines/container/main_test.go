package container

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/vllm"
)

// These tests run twice: against a daemon that is a fake, so that `go test
// ./...` needs no Docker, and with -tags=docker against the real one. What
// differs is behind setUp, image, command and real.

// partVariable makes the test binary one that starts a container and ends as
// the variable's value says.
const partVariable = "CONTAINER_TEST_PART"

func TestMain(m *testing.M) {
	if os.Getenv(partVariable) != "" {
		os.Exit(m.Run())
	}
	servertest.Unset()
	tearDown, err := setUp()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	tearDown()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// configuration starts the test's image as vLLM.
func configuration(t *testing.T) vllm.Config {
	return vllm.Config{
		Model: "m", Launcher: Launcher{}, Image: image, Command: command,
		LogFile: t.TempDir() + "/vllm.log", Hardware: "1x X",
	}
}

func start(t *testing.T, cfg vllm.Config) *vllm.Server {
	t.Helper()
	engine, stop, err := vllm.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return engine.(*vllm.Server)
}

// TestPart is a test binary with a container, which the others run.
func TestPart(t *testing.T) {
	part := os.Getenv(partVariable)
	if part == "" {
		return // it is nothing by itself
	}
	engine := vllm.Start(t, configuration(t)).(*vllm.Server)
	fmt.Printf("started %s\n", engine.URL())
	switch part {
	case "panics":
		go panic("in a goroutine")
	case "exits":
		os.Exit(0)
	case "fails":
		t.Fatal("it failed")
	}
	select {}
}

// testBinary is a test binary that plays a part.
type testBinary struct {
	cmd        *exec.Cmd
	url        string
	owner      owner
	containers []string // ids; none where it did not stay
}

// play runs a test binary until it has a container.
func play(t *testing.T, part string, flags ...string) *testBinary {
	t.Helper()
	b := &testBinary{cmd: exec.Command(os.Args[0], append([]string{"-test.run=^TestPart$"}, flags...)...)}
	b.cmd.Env = append(os.Environ(), partVariable+"="+part, "OPENLOOP_LOCKS="+t.TempDir())
	apart(b.cmd)
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	b.owner = describe(b.cmd.Process.Pid)
	if _, err := fmt.Fscanf(out, "started %s\n", &b.url); err != nil {
		t.Fatalf("the test binary says no address: %v", err)
	}
	for _, c := range listed(t, b.owner) {
		b.containers = append(b.containers, c.ID)
	}
	if part == "stays" && len(b.containers) != 1 {
		t.Fatalf("the test binary has containers %v", b.containers)
	}
	return b
}
