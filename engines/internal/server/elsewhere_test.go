//go:build unix

package server

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/internal/lock"
	"github.com/openloop-go/openloop/engines/launch"
)

// A server that computes elsewhere takes nothing of this host, and what is seen
// of this host's GPUs is not seen of it.
func TestServerElsewhereKeepsNoGPU(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	used := standInSMI(t)
	var spec launch.Spec
	var args []string
	s, err := Launch(t.Context(), testKind(), launch.Config{Model: "m", GPUs: "0", Launcher: box{saw: &spec, args: &args}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if devices, err := s.Sample(t.Context()); err != nil || devices != nil {
			t.Errorf("devices %+v, %v", devices, err)
		}
		if got, want := s.Identity().Settings, map[string]string{"gpus": "0", "image_digest": "sha256:beef"}; !reflect.DeepEqual(got, want) {
			t.Errorf("settings %v, want %v", got, want)
		}
		if n := occupants.of["GPU-aaaa"]; n != 0 {
			t.Errorf("%d servers are counted on this host's GPU", n)
		}
		if release, err := s.Hold(t.Context(), "TestX", t.Logf); err != nil || release() != nil {
			t.Errorf("hold: %v", err)
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	end := another(t, lock.GPU("GPU-aaaa"))
	inUse(t, used, 130000) // by the other one
	began := time.Now()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("waited %v for memory that is not its own", took)
	}
	end()
}

// While a server that computes elsewhere is measured, who attaches to it and who
// measures it too wait, also when it is started again meanwhile.
func TestServerElsewhereIsKeptFromThoseWhoAttach(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	var spec launch.Spec
	var args []string
	s, err := Launch(t.Context(), testKind(), launch.Config{Model: "m", Launcher: box{saw: &spec, args: &args}})
	if err != nil {
		t.Fatal(err)
	}
	release, err := s.Hold(t.Context(), "TestDecode", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if who := whose(t, s.address()); !strings.Contains(who, ", TestDecode, in ") {
			t.Errorf("%s: %q, want it to be TestDecode's", s.address(), who)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Hold(over, "TestPrefill", nil); err == nil || !strings.Contains(err.Error(), "TestDecode of this process measures") {
			t.Errorf("got %v, want to wait for TestDecode", err)
		}
		first := s.address()
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if who := whose(t, first); who != "" && first != s.address() {
			t.Errorf("nothing is there, and %s", who)
		}
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if who := whose(t, s.address()); who != "" {
		t.Errorf("given back, and %s", who)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// spoiler is a box that breaks the locks, so that they cannot be given back.
type spoiler struct {
	box
	stopped *bool
}

func (s spoiler) Launch(ctx context.Context, spec launch.Spec) (*launch.Running, error) {
	for _, file := range spec.Guarded {
		_ = file.Close()
	}
	running, err := s.box.Launch(ctx, spec)
	stop := running.Stop
	running.Stop = func(ctx context.Context) error { *s.stopped = true; return stop(ctx) }
	return running, err
}

// A start that fails leaves no server behind, however it fails.
func TestServerElsewhereIsStoppedWhereTheLockIsNotGivenBack(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	var spec launch.Spec
	var args []string
	stopped := false
	_, err := Launch(t.Context(), testKind(), launch.Config{Model: "m", Launcher: spoiler{box{saw: &spec, args: &args}, &stopped}})
	if err == nil || !strings.HasPrefix(err.Error(), "unlock cpu: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want that the lock could not be given back", err)
	}
	if !stopped {
		t.Error("the server runs on")
	}
}
