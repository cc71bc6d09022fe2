//go:build !docker

package container

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

// slowly has the daemon take its time over creating a container.
func slowly() behaviour {
	return behaviour{asked: make(chan struct{}, 1), slow: make(chan struct{}), looks: make(chan struct{}, 100)}
}

// A start that is called off while its container is being created leaves none:
// the daemon goes on with what it was asked for.
func TestStartThatIsCalledOffWhileItsContainerIsCreated(t *testing.T) {
	b := slowly()
	fake.reset(b)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := Launcher{Image: image}.Launch(ctx, launch.Spec{Name: "vllm", Grace: time.Second, Log: io.Discard})
		failed <- err
	}()
	<-b.asked
	cancel()
	select {
	case err := <-failed:
		t.Errorf("it does not wait for what it has asked for: %v", err)
	case <-time.After(100 * time.Millisecond): // in which the cancellation gets about
	}
	close(b.slow)
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := listed(t, self()); len(left) != 0 {
		t.Errorf("%d containers left", len(left))
	}
	if dogs := watchdogs(t, self()); len(dogs) != 0 {
		t.Errorf("watchdogs %v watch nothing", dogs)
	}
}

// A container that appears only after its owner was killed is removed, too.
func TestTestBinaryThatIsKilledWhileItsContainerIsCreated(t *testing.T) {
	b := slowly()
	fake.reset(b)
	cmd := exec.Command(os.Args[0], "-test.run=^TestPart$")
	cmd.Env = append(os.Environ(), partVariable+"=stays", "OPENLOOP_LOCKS="+t.TempDir())
	apart(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-b.asked
	o := describe(cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for len(b.looks) > 0 {
		<-b.looks
	}
	for range 5 { // more than a watchdog looks that expects nothing
		<-b.looks
	}
	close(b.slow)
	unwatched(t, o)
	if left := listed(t, owner{}); len(left) != 0 {
		t.Errorf("%d containers left", len(left))
	}
}

// A daemon that breaks off the connection may have created the container: its
// watchdog stays, and whoever reads the error learns the container's name.
func TestDaemonThatDoesNotAnswer(t *testing.T) {
	b := slowly()
	b.breaks = true
	fake.reset(b)
	close(b.slow)
	_, err := Launcher{Image: image}.Launch(t.Context(), launch.Spec{Name: "vllm", Grace: time.Second, Log: io.Discard})
	dogs := watchdogs(t, self())
	if err == nil || !strings.Contains(err.Error(), "it may be there yet, and is removed after the end of this process, by the next start at the latest, or by docker rm -f openloop-vllm-") || len(dogs) != 1 {
		t.Errorf("watchdogs %v, %v", dogs, err)
	}
	for _, pid := range dogs {
		p, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Kill()
		_, _ = p.Wait()
	}
}
