package lock

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Who measures has it alone in the process too; who only lives there does not
// mind.
func TestOneMeasuresAtATime(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var log heard
		get := func(owner, name string, alone bool) (*Lock, error) {
			return Acquire(t.Context(), Request{Resources: []string{name}, Owner: owner, Alone: alone, Folder: folder, Log: log.log})
		}
		must := func(owner, name string, alone bool) *Lock {
			t.Helper()
			l, err := get(owner, name, alone)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		lives := []*Lock{must("TestA", CPU, false), must("TestB", CPU, false)}
		first := must("TestA", CPU, true)
		second := must("TestA", CPU, true) // both of its engines are there
		if len(log) > 0 {
			t.Errorf("log %q", log)
		}
		time.AfterFunc(time.Minute-poll/2, func() {
			if err := errors.Join(first.Release(), second.Release()); err != nil {
				t.Error(err)
			}
		})
		began := time.Now()
		b := must("TestB", CPU, true)
		if took := time.Since(began); took != time.Minute || len(log) != 3 ||
			log[0] != "waiting for cpu, which TestA of this process measures (waited 0s)" {
			t.Errorf("after %v, log %q", took, log)
		}
		// It measures on what comes after, and must not wait for what comes before.
		gpu := must("TestC", "gpu 1", true)
		const want = "must not wait for cpu, which TestB of this process measures, while holding gpu 1: " +
			"two that wait for each other would do so for ever; take cpu first, or run one after the other (go test -p 1, without t.Parallel)"
		if _, err := get("TestC", CPU, true); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		for _, l := range append(lives, b, gpu) {
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		}
		elsewhere(t, folder, CPU, "")()
	})
}

// Two processes that each hold what the other wants would wait for ever: the
// one that is out of order does not wait at all.
func TestNobodyWaitsAgainstTheOrder(t *testing.T) {
	local(t)
	const a, b, c = "gpu a", "gpu b", "gpu c"
	tests := []struct {
		name   string
		holder string
		owner  string
		holds  string
		wants  string
		waits  bool
	}{
		{"in order", "TestX", "TestX", a, b, true},
		{"out of order", "TestX", "TestX", c, b, false},
		{"the process holds it", "", "TestX", c, b, false},
		{"an ancestor holds it", "TestX", "TestX/sub", c, b, false},
		{"another test holds it, and will end", "TestXY", "TestX", c, b, true},
		{"a subtest holds it, and will end", "TestX/sub", "TestX", c, b, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				free := elsewhere(t, folder, test.wants, perf)
				time.AfterFunc(time.Minute-poll/2, free)
				held, err := Acquire(t.Context(), Request{Resources: []string{test.holds}, Owner: test.holder, Folder: folder})
				if err != nil {
					t.Fatal(err)
				}
				defer held.Release()
				began := time.Now()
				got, err := Acquire(t.Context(), Request{Resources: []string{test.wants}, Owner: test.owner, Folder: folder})
				defer got.Release()
				if test.waits {
					if err != nil || time.Since(began) != time.Minute {
						t.Errorf("%v after %v, want it after a minute", err, time.Since(began))
					}
					return
				}
				want := "must not wait for gpu b, which perf.test (pid 42, TestDecode, in /src/perf) has held since 00:00:00, while holding gpu c: " +
					"two that wait for each other would do so for ever; take gpu b first, or run one after the other (go test -p 1, without t.Parallel)"
				if err == nil || err.Error() != want || time.Since(began) != 0 {
					t.Errorf("after %v\ngot  %v\nwant %s", time.Since(began), err, want)
				}
				free()
			})
		})
	}
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
