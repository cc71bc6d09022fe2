package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// elsewhere takes a resource as another process would: by an open file that
// this process's own locks know nothing of.
func elsewhere(t *testing.T, folder, name string, h string) (free func()) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(folder, fileName(name)+".lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := tryLock(file); !locked || err != nil {
		t.Fatalf("lock %s: %v, %v", name, locked, err)
	}
	if h != "" {
		if err := os.WriteFile(holderFile(folder, name), []byte(h), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return func() { _ = unlock(file); _ = file.Close() }
}

const perf = `{"pid":42,"program":"perf.test","folder":"/src/perf","test":"TestDecode","since":"2000-01-01T00:00:00Z"}`

// heard is a log that remembers.
type heard []string

func (h *heard) log(format string, args ...any) { *h = append(*h, fmt.Sprintf(format, args...)) }

// local makes times of the day the same everywhere.
func local(t *testing.T) {
	was := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = was })
}

func TestWhoWaitsSaysForWhom(t *testing.T) {
	local(t)
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		free := elsewhere(t, folder, GPU("GPU-1"), perf)
		time.AfterFunc(70*time.Second-poll/2, free)
		var log heard
		l, err := Acquire(t.Context(), Request{Resources: []string{GPU("GPU-1")}, Folder: folder, Owner: "TestX", Log: log.log})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		const who = "perf.test (pid 42, TestDecode, in /src/perf) has held since 00:00:00"
		want := heard{
			"waiting for gpu GPU-1, which " + who + " (waited 0s)",
			"waiting for gpu GPU-1, which " + who + " (waited 30s)",
			"waiting for gpu GPU-1, which " + who + " (waited 1m0s)",
			"gpu GPU-1 is free, after 1m10s",
		}
		if !slices.Equal(log, want) {
			t.Errorf("log %q\nwant %q", log, want)
		}
	})
}

func TestWaitingEndsWithTheTestsTime(t *testing.T) {
	local(t)
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		defer elsewhere(t, folder, "http://gpu-7:8000", perf)()
		cause := errors.New("the test's deadline is in 15s: raise -timeout")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 45*time.Minute, cause)
		defer cancel()
		l, err := Acquire(ctx, Request{Resources: []string{CPU, "http://gpu-7:8000"}, Folder: folder})
		const want = "waited 45m0s for http://gpu-7:8000, which perf.test (pid 42, TestDecode, in /src/perf) has held since 00:00:00: " +
			"the test's deadline is in 15s: raise -timeout; give the tests more time, or run one after the other (go test -p 1, without t.Parallel)"
		if l != nil || err == nil || err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		// What it had got in the meantime it has given back.
		elsewhere(t, folder, CPU, "")()
	})
}

func TestOthersDoNotWait(t *testing.T) {
	folder := t.TempDir()
	defer elsewhere(t, folder, GPU("GPU-1"), perf)()
	var log heard
	l, err := Acquire(t.Context(), Request{Resources: []string{GPU("GPU-2"), GPU("GPU-2")}, Folder: folder, Log: log.log})
	if err != nil || len(log) > 0 {
		t.Fatalf("%v, %q", err, log)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if err := l.Release(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if l, err = Acquire(t.Context(), Request{}); err != nil || len(l.Files()) != 0 {
		t.Errorf("nothing: %v", err)
	}
}

// A process shares what it has, until the last owner gives it back.
func TestWithinAProcess(t *testing.T) {
	folder := t.TempDir()
	var held []*Lock
	var log heard
	for _, owner := range []string{"TestA", "TestA", "TestA/second", "TestB"} {
		l, err := Acquire(t.Context(), Request{Resources: []string{CPU}, Owner: owner, Folder: folder, Log: log.log})
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
	}
	for _, l := range held {
		if here.held[key{folder, CPU}] == nil {
			t.Fatalf("given back before %s has", l.owner)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if len(log) > 0 {
		t.Errorf("log %q", log)
	}
	elsewhere(t, folder, CPU, "")()
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Acquire(t.Context(), Request{Resources: []string{CPU}, Folder: filepath.Join(file, "locks")})
	if want := regexp.MustCompile(`^lock cpu: mkdir .*: set OPENLOOP_LOCKS to a folder that can be written$`); err == nil || !want.MatchString(err.Error()) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Who would rather not wait is told at once who has it, in another process or
// in this one.
func TestNow(t *testing.T) {
	local(t)
	folder := t.TempDir()
	free := elsewhere(t, folder, URL("http://gpu.localhost:8000"), perf)
	var log heard
	ask := func(owner string) (*Lock, error) {
		return Acquire(t.Context(), Request{Resources: []string{CPU, URL("http://0.0.0.0:8000/v1")}, Owner: owner, Alone: true, Now: true, Folder: folder, Log: log.log})
	}
	l, err := ask("doctor")
	want := InUse{"http://127.0.0.1:8000", "perf.test (pid 42, TestDecode, in /src/perf) has held since 00:00:00"}
	if got := (*InUse)(nil); l != nil || !errors.As(err, &got) || *got != want {
		t.Errorf("got %v, want %v", err, &want)
	}
	elsewhere(t, folder, CPU, "")() // was given back
	free()
	l, err = ask("TestA")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	_, err = ask("doctor")
	if want := "cpu, which TestA of this process measures"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if len(log) > 0 {
		t.Errorf("log %q", log)
	}
}
