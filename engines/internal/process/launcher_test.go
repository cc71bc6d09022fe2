package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

// scripted is a launcher of a program that is no process.
type scripted struct {
	fails    error                           // what Launch says
	hangs    func(context.Context) error     // what it does before
	prints   string                          // what the program prints
	dies     bool                            // right after its start
	survives error                           // what Stop says
	changes  func(*launch.Running)           // what it gets wrong
	saw      func(launch.Spec, launch.Place) // what it was asked
}

func (s scripted) Launch(ctx context.Context, spec launch.Spec) (*launch.Running, error) {
	if s.hangs != nil {
		if err := s.hangs(ctx); err != nil {
			return nil, err
		}
	}
	if s.fails != nil {
		return nil, s.fails
	}
	at := launch.Place{Host: "0.0.0.0", Port: 8000, Temp: "/tmp"}
	if s.saw != nil {
		s.saw(spec, at)
	}
	fmt.Fprint(spec.Log, s.prints)
	done := make(chan struct{})
	end := sync.OnceFunc(func() { close(done) })
	if s.dies {
		end()
	}
	r := &launch.Running{
		URL: "http://127.0.0.1:32768", ID: "box 1", Done: done, Command: append([]string{"run"}, spec.Args(at)...),
		Ended: func() string { return "box exited with code 137 (out of memory)" },
		Stop:  func(context.Context) error { end(); return s.survives },
	}
	if s.changes != nil {
		s.changes(r)
	}
	return r, nil
}

// anyDuration stands for the times in messages, which are real.
var anyDuration = regexp.MustCompile(`(after|in the) [0-9.]+m?s`)

func boxed(t *testing.T, l launch.Launcher) Spec {
	return Spec{
		Server: launch.Spec{
			Name: "vllm", Env: []string{"HF_TOKEN=hush-hush-hush"},
			Args: func(at launch.Place) []string {
				return []string{"--port", fmt.Sprint(at.Port), "--api-key", "sesame-open"}
			},
		},
		Launcher: l,
		LogFile:  filepath.Join(t.TempDir(), "log"),
		Ready:    func(context.Context, string) error { return nil },
	}
}

func TestServerOfALauncher(t *testing.T) {
	p, err := Start(t.Context(), boxed(t, scripted{prints: "key sesame-open\nand hush-hush-hush\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Command(), "run --port 8000 --api-key [redacted]"; got != want {
		t.Errorf("Command() = %q, want %q", got, want)
	}
	if got := strings.Join(p.Log().Tail(9), "|"); got != "key [redacted]|and [redacted]" {
		t.Errorf("log %q", got)
	}
	if p.URL() != "http://127.0.0.1:32768" || p.ID() != "box 1" || p.Local() {
		t.Errorf("%s %s %t", p.URL(), p.ID(), p.Local())
	}
	if err := p.Stop(t.Context()); err != nil || p.Err(t.Context()) != nil || len(live.servers) != 0 {
		t.Errorf("Stop() = %v, Err() = %v, %d servers listed", err, p.Err(t.Context()), len(live.servers))
	}
}

func TestWhatALauncherSays(t *testing.T) {
	slow := func(ctx context.Context) error { <-ctx.Done(); return errors.New("image x is being pulled, 3 of 8 GB") }
	tests := []struct {
		name     string
		launcher scripted
		want     string
	}{
		{"it fails", scripted{fails: errors.New("image \"x\" is not here, key sesame-open")},
			`start vllm: image "x" is not here, key [redacted]`},
		{"it takes the whole budget", scripted{hangs: slow},
			"start vllm: not ready after 1s: image x is being pulled, 3 of 8 GB; raise the start budget if it only needs longer, log in LOG is empty"},
		{"the program dies", scripted{dies: true, prints: "CUDA out of memory\n"},
			"start vllm: box exited with code 137 (out of memory) after 1s, log in LOG; its last lines:\n    CUDA out of memory"},
		{"it forgets the end", scripted{changes: func(r *launch.Running) { *r = launch.Running{URL: "http://x"} }},
			"start vllm: the launcher must fill URL, ID, Done, Ended and Stop of launch.Running, got " +
				"&{URL:http://x ID: Command:[] Settings:map[] Local:false Done:<nil> Ended:<nil> Gone:<nil> Stop:<nil>}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := boxed(t, test.launcher)
			spec.Budget = 100 * time.Millisecond
			spec.Ready = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
			_, err := Start(t.Context(), spec)
			if err == nil {
				t.Fatal("started")
			}
			got := anyDuration.ReplaceAllString(strings.ReplaceAll(err.Error(), spec.LogFile, "LOG"), "$1 1s")
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if len(live.servers) != 0 {
				t.Errorf("%d servers still listed", len(live.servers))
			}
		})
	}
}

// What an incomplete start has brought up is stopped, even with its time over.
func TestIncompleteStartIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, survives := range []error{nil, errors.New("the box could not be removed, key sesame-open")} {
		stops := 0
		_, err := Start(ctx, boxed(t, scripted{survives: survives, changes: func(r *launch.Running) {
			stop := r.Stop
			r.Stop = func(ctx context.Context) error {
				stops++
				if ctx.Err() != nil {
					t.Errorf("stopped in no time: %v", ctx.Err())
				}
				return stop(ctx)
			}
			r.URL = ""
			if survives != nil {
				cancel()
			}
		}}))
		if stops != 1 || err == nil || strings.Contains(err.Error(), "sesame") ||
			survives != nil != strings.Contains(err.Error(), "; and it could not be stopped: the box could not be removed, key [redacted]") {
			t.Errorf("%d stops, %v", stops, err)
		}
	}
}

func TestStopSaysWhatIsLeft(t *testing.T) {
	p, err := Start(t.Context(), boxed(t, scripted{survives: errors.New("the box could not be removed")}))
	if err != nil {
		t.Fatal(err)
	}
	const want = "stop vllm: the box could not be removed"
	if err := p.Stop(t.Context()); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	<-p.Done()
}

// What is still being started when everything is to end is called off.
func TestStopAllReachesAStart(t *testing.T) {
	starting := make(chan struct{})
	slow := func(ctx context.Context) error { close(starting); <-ctx.Done(); return ctx.Err() }
	failed := make(chan error, 1)
	go func() {
		_, err := Start(t.Context(), boxed(t, scripted{hangs: slow}))
		failed <- err
	}()
	<-starting
	StopAll(t.Context())
	if err := <-failed; !strings.Contains(fmt.Sprint(err), "start vllm: context canceled") {
		t.Errorf("got %v", err)
	}
	if len(live.servers) != 0 {
		t.Errorf("%d servers still listed", len(live.servers))
	}
}
