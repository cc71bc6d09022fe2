//go:build unix

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/internal/lock"
	"github.com/openloop-go/openloop/engines/launch"
)

// whose asks in another test binary who has a resource; "" is nobody.
func whose(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdsName+"="+name, holdsNow+"=1")
	out, err := cmd.Output()
	said := strings.TrimPrefix(strings.TrimSpace(string(out)), "holding ")
	if err != nil {
		t.Fatal(err)
	}
	if said == "<nil>" {
		return ""
	}
	return strings.TrimPrefix(said, name+", which ")
}

// startedHere is a server that was started here, with locks of its own.
func startedHere(t *testing.T) *Server {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	s, err := start(&fake{TB: t}, testKind(), launch.Config{Model: "m", Args: []string{"--device=cpu"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

// While a server that was started here is measured, who attaches to it elsewhere
// waits, also when it is started again meanwhile.
func TestAStartedServerIsKeptFromThoseWhoAttach(t *testing.T) {
	s := startedHere(t)
	url := func() string { return lock.URL(s.Client().URL()) }
	first := url()
	if who := whose(t, first); who != "" {
		t.Errorf("not measured, and %s", who)
	}
	release, err := s.Hold(t.Context(), "TestDecode", nil)
	if err != nil {
		t.Fatal(err)
	}
	held := func(name string) {
		t.Helper()
		if who, want := whose(t, name), fmt.Sprintf("(pid %d, TestDecode, in ", os.Getpid()); !strings.Contains(who, want) {
			t.Errorf("%s: %q, want it to say %q", name, who, want)
		}
	}
	held(first)
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	held(url())
	if who := whose(t, first); who != "" && first != url() {
		t.Errorf("nothing is there, and %s", who)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if who := whose(t, url()); who != "" {
		t.Errorf("given back, and %s", who)
	}
	if who := whose(t, lock.CPU); who == "" {
		t.Error("the device is free, and the server on it runs")
	}
}

// A hold that is taken while the server is started again is of where it is then,
// and one that cannot be taken leaves nothing held.
func TestAHoldFollowsAServerThatMoves(t *testing.T) {
	folder := t.TempDir()
	h := &hold{request: lock.Request{Owner: "TestDecode", Folder: folder}}
	if err := h.take(t.Context(), "url a"); err != nil {
		t.Fatal(err)
	}
	var all holds
	if all.add(h, func() bool { return false }) || len(all.all) != 0 {
		t.Error("added where the server is no longer")
	}
	if !all.add(h, func() bool { return true }) {
		t.Error("not added where the server is")
	}
	other, err := lock.Acquire(t.Context(), lock.Request{Resources: []string{"url b"}, Owner: "TestPrefill", Alone: true, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	h.request.Alone = true
	over, cancel := context.WithCancel(t.Context())
	cancel()
	const want = "measure the server started here: waited 0s for url b, which TestPrefill of this process measures: context canceled"
	if err := all.move(over, "url b"); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := errors.Join(all.drop(h), other.Release()); err != nil || len(all.all) != 0 {
		t.Errorf("%v, %d held", err, len(all.all))
	}
	for _, name := range []string{"url a", "url b"} {
		l, err := lock.Acquire(t.Context(), lock.Request{Resources: []string{name}, Owner: "TestX", Alone: true, Now: true, Folder: folder})
		if err != nil {
			t.Errorf("%s is not free: %v", name, err)
		}
		_ = l.Release()
	}
}

// A server that was started here and is attached to elsewhere is waited for.
func TestAStartedServerThatSomebodyElseHas(t *testing.T) {
	s := startedHere(t)
	name := lock.URL(s.Client().URL())
	end := another(t, name)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Hold(over, "TestPrefill", nil)
	want := "measure the server started here: waited 0s for " + name + ", which ~: context canceled; "
	if err == nil || !strings.HasPrefix(aHolder.ReplaceAllString(err.Error(), "~"), want) || !strings.HasSuffix(err.Error(), "; or run those who attach to it after this test") {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var log []string // of nobody but the other: the device was given back
	release, err := s.Hold(t.Context(), "TestDecode", func(format string, args ...any) {
		log = append(log, fmt.Sprintf(format, args...))
		end()
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 2 || aHolder.ReplaceAllString(log[0], "~") != "waiting for "+name+", which ~ (waited 0s)" || !strings.HasPrefix(log[1], name+" is free, after ") {
		t.Errorf("log %q", log)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
