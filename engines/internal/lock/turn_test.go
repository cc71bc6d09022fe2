package lock

import (
	"context"
	"os"
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

// The resources of one request are taken in the order of their names, whatever
// their order in it: while the first of them is another's, none that comes after
// it is held.
func TestOneRequestTakesInOrder(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		free := elsewhere(t, folder, GPU("a"), perf)
		done := make(chan *Lock)
		go func() {
			l, err := Acquire(t.Context(), Request{Resources: []string{GPU("c"), GPU("a"), GPU("b")}, Folder: folder})
			if err != nil {
				t.Error(err)
			}
			done <- l
		}()
		time.Sleep(time.Minute)
		for _, later := range []string{GPU("b"), GPU("c")} {
			elsewhere(t, folder, later, "")() // it is free
		}
		free()
		l := <-done
		var names []string
		for _, one := range l.held {
			names = append(names, one.name)
		}
		if len(names) != 3 || names[0] != GPU("a") || names[1] != GPU("b") || names[2] != GPU("c") {
			t.Errorf("taken in the order %q", names)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}
