package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/openloop-go/openloop/engines/launch"
)

// A program that has ended, and whose end has not been told yet, has ended: what
// its log says last is not lost to the stop that follows.
func TestDeathJustBeforeTheStop(t *testing.T) {
	asked := make(chan struct{})
	end := sync.OnceFunc(func() { close(asked) })
	spec := boxed(t, scripted{changes: func(r *launch.Running) {
		done := make(chan struct{})
		r.Done, r.Stop = done, func(context.Context) error { <-done; return nil }
		r.Gone = func() bool { end(); return true }
		go func() { <-asked; close(done) }()
	}})
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Log().Write([]byte("GGML_ASSERT failed\n"))
	got := fmt.Sprint(p.Err(t.Context()))
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	got = anyDuration.ReplaceAllString(strings.ReplaceAll(got, spec.LogFile, "LOG"), "$1 1s")
	const want = "vllm: box exited with code 137 (out of memory) after 1s, log in LOG; its last lines:\n    GGML_ASSERT failed"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := p.Err(t.Context()); err != nil {
		t.Errorf("after Stop: %v", err)
	}
	got = anyDuration.ReplaceAllString(strings.ReplaceAll(p.Obituary(), spec.LogFile, "LOG"), "$1 1s")
	if want := "vllm box exited with code 137 (out of memory) after 1s, log in LOG"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// An end that is not told in the time there is does not keep who asks, and is not
// lost either.
func TestDeathThatIsNotToldInTime(t *testing.T) {
	done := make(chan struct{})
	spec := boxed(t, scripted{prints: "last words\n", changes: func(r *launch.Running) {
		r.Done, r.Gone = done, func() bool { return true }
		r.Stop = func(context.Context) error { close(done); return nil }
	}})
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the test's deadline is near"))
	const want = "vllm: has ended, and how is not known yet (the test's deadline is near), log in LOG; its last lines:\n    last words"
	for name, asked := range map[string]func(context.Context) error{"Err": p.Err, "Dying": p.Dying} {
		if got := strings.ReplaceAll(fmt.Sprint(asked(ctx)), spec.LogFile, "LOG"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
		}
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// A stop that comes while a death is looked for, as from a signal, ends a server
// that has not died.
func TestStopWhileADeathIsLookedFor(t *testing.T) {
	var p *Process
	spec := boxed(t, scripted{changes: func(r *launch.Running) {
		r.Gone = func() bool { return p.Stop(t.Context()) == nil } // it is gone now, and was asked to
	}})
	var err error
	if p, err = Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if err := p.Err(t.Context()); err != nil {
		t.Errorf("got %v of a server that was stopped", err)
	}
}

// What answers outlives what computes, for a moment or for ever.
func TestServerThatSaysThatItCannotGoOn(t *testing.T) {
	for _, ends := range []bool{true, false} {
		var log io.Writer
		spec := boxed(t, scripted{saw: func(s launch.Spec, _ launch.Place) { log = s.Log }})
		spec.Dying = func(line string) bool { return strings.Contains(line, "EngineDeadError") }
		p, err := Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Dying(t.Context()); err != nil || p.Obituary() != "" {
			t.Errorf("it has said nothing: %v, %q", err, p.Obituary())
		}
		fmt.Fprintln(log, "raise EngineDeadError\nShutting down")
		ctx, cancel := context.WithCancel(t.Context())
		want := `vllm: it has said that it cannot go on and has not ended ("raise EngineDeadError"), log in LOG; its last lines:` + "\n    raise EngineDeadError\n    Shutting down"
		if ends {
			want = "vllm: box exited with code 137 (out of memory) after 1s, log in LOG; its last lines:\n    raise EngineDeadError\n    Shutting down"
			_ = p.running.Stop(t.Context()) // it ends, and not because we asked
		} else {
			cancel()
		}
		got := fmt.Sprint(p.Dying(ctx))
		cancel()
		if got = anyDuration.ReplaceAllString(strings.ReplaceAll(got, spec.LogFile, "LOG"), "$1 1s"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if err := p.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := p.Dying(t.Context()); err != nil {
			t.Errorf("after Stop: %v", err)
		}
	}
}
