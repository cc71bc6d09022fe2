package lock

import (
	"context"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A process that gives a resource back after each test, and takes it again for
// the next at once, lets one who waits go first.
func TestWhoWaitsGoesFirst(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		free := elsewhere(t, folder, CPU, perf)
		got := make(chan time.Duration)
		begun := time.Now()
		go func() {
			l, err := Acquire(t.Context(), Request{Resources: []string{CPU}, Folder: folder})
			if err != nil {
				t.Error(err)
			}
			took := time.Since(begun)
			time.Sleep(time.Minute)
			if err := l.Release(); err != nil {
				t.Error(err)
			}
			got <- took
		}()
		time.Sleep(time.Minute - poll/2)
		free()
		// The other process wants it back at once, as take tries it.
		other := turn{folder: folder, name: CPU}
		if next, err := other.comes(); next || err != nil {
			t.Fatalf("it is the other's turn, although this one waits: %v", err)
		}
		if took := <-got; took != time.Minute {
			t.Errorf("had it after %v, want at the first try after it was free", took)
		}
		if next, err := other.comes(); !next || err != nil {
			t.Errorf("the turn was kept by one who has been: %v", err)
		}
		other.give()
		left, err := os.ReadDir(folder)
		if err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// Whoever gives up waiting gives its turn to the next.
func TestATurnEndsWithTheWait(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		defer elsewhere(t, folder, CPU, "")()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Acquire(ctx, Request{Resources: []string{CPU}, Folder: folder}); err == nil {
			t.Fatal("acquired what another has")
		}
		next := turn{folder: folder, name: CPU}
		defer next.give()
		if ok, err := next.comes(); !ok || err != nil {
			t.Errorf("not the next one's turn: %v", err)
		}
	})
}

// Who waits for one who is next says so, and does not call that one the holder.
func TestWhoIsNext(t *testing.T) {
	local(t)
	for _, row := range []struct{ name, holder, want string }{
		{"of a resource that is free", "", "somebody else is next to have"},
		{"of one that is held", perf, "perf.test (pid 42, TestDecode, in /src/perf) has held since 00:00:00, and somebody else is next to have"},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				free := func() {}
				if row.holder != "" {
					free = elsewhere(t, folder, CPU, row.holder)
				}
				other := turn{folder: folder, name: CPU}
				if next, err := other.comes(); !next || err != nil {
					t.Fatalf("no turn: %v", err)
				}
				time.AfterFunc(time.Minute-poll/2, func() { free(); other.give() })
				var log heard
				l, err := Acquire(t.Context(), Request{Resources: []string{CPU}, Folder: folder, Log: log.log})
				if err != nil {
					t.Fatal(err)
				}
				want := heard{"waiting for cpu, which " + row.want + " (waited 0s)", "waiting for cpu, which " + row.want + " (waited 30s)", "cpu is free, after 1m0s"}
				if !slices.Equal(log, want) {
					t.Errorf("log %q\nwant %q", log, want)
				}
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
