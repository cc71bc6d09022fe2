//go:build unix

package process

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
)

func answers(ctx context.Context, url string) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
	if err == nil {
		_ = c.Close()
	}
	return err
}

func TestServerStartsAndStops(t *testing.T) {
	p, err := Start(t.Context(), Spec{
		Server: launch.Spec{
			Name:    "server",
			Command: []string{os.Args[0]},
			Args: func(at launch.Place) []string {
				return []string{strconv.Itoa(at.Port), "--api-key", "sesame-open", "--seed", "7"}
			},
			Env: []string{roleName + "=serve"},
		},
		LogFile: filepath.Join(t.TempDir(), "logs", "server.log"),
		Ready:   answers,
	})
	if err != nil {
		t.Fatal(err)
	}
	port := p.URL()[strings.LastIndex(p.URL(), ":")+1:]
	if got, want := p.Command(), os.Args[0]+" "+port+" --api-key [redacted] --seed 7"; got != want {
		t.Errorf("Command() = %q, want %q", got, want)
	}
	if err := p.Err(t.Context()); err != nil {
		t.Errorf("Err() of a running server = %v", err)
	}
	for range 2 { // the second one has nothing to do
		if err := p.Stop(t.Context()); err != nil {
			t.Errorf("Stop() = %v", err)
		}
	}
	if err := p.Err(t.Context()); err != nil {
		t.Errorf("Err() of a server that was stopped = %v", err)
	}
	if err := answers(t.Context(), p.URL()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the port still answers: %v", err)
	}
	if len(live.servers) != 0 {
		t.Errorf("%d servers still listed", len(live.servers))
	}
}

func TestStartSaysWhatWentWrong(t *testing.T) {
	t.Setenv("HF_TOKEN", "hush-hush-hush")
	never := func(context.Context, string) error { return errors.New("GET /health: connection refused") }
	tests := []struct {
		name, role string
		spec       Spec
		want       string
	}{
		{"dies while loading", "fail", Spec{Ready: never, Interval: time.Hour},
			"start vllm: exited with code 3 after 1s, log in LOG; its last lines:\n" +
				"    loading weights\n" +
				"    error: unknown architecture, key [redacted]"},
		{"is killed", "kill", Spec{Ready: never},
			"start vllm: killed by signal 9 (often the kernel, out of memory) after 1s, log in LOG is empty"},
		{"dies while the probe hangs", "kill",
			Spec{Ready: func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }},
			"start vllm: killed by signal 9 (often the kernel, out of memory) after 1s, log in LOG is empty"},
		{"never gets ready", "mute", Spec{Ready: never, Budget: 300 * time.Millisecond, Interval: time.Millisecond},
			"start vllm: not ready after 1s: GET /health: connection refused; " +
				"raise the start budget if it only needs longer, log in LOG is empty"},
		{"says that it cannot start, and hangs", "hopeless",
			Spec{Ready: never, Patience: 10 * time.Millisecond, Hopeless: func(line string) bool { return strings.HasPrefix(line, "Scheduler hit") }},
			"start vllm: it says that it cannot start and has not ended in the 1s since (\"Scheduler hit an exception\"), log in LOG; its last lines:\n" +
				"    loading weights\n    Scheduler hit an exception\n    bye"},
		{"answers what waiting cannot change", "mute",
			Spec{Ready: func(context.Context, string) error { return Final(errors.New("it serves another model, \"llama\"")) }},
			"start vllm: it serves another model, \"llama\", log in LOG is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := test.spec
			spec.Server = launch.Spec{
				Name: "vllm", Command: []string{os.Args[0]},
				Env: []string{roleName + "=" + test.role}, Grace: time.Second,
			}
			spec.LogFile = filepath.Join(t.TempDir(), "log")
			_, err := Start(t.Context(), spec)
			if err == nil {
				t.Fatal("started")
			}
			got := strings.ReplaceAll(err.Error(), spec.LogFile, "LOG")
			got = anyDuration.ReplaceAllString(got, "$1 1s")
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if log, err := os.ReadFile(spec.LogFile); err != nil || strings.Contains(string(log), "hush") {
				t.Errorf("log file: %v: %s", err, log)
			}
		})
	}
}

func TestStartWithoutProgram(t *testing.T) {
	_, err := Start(t.Context(), Spec{
		Server: launch.Spec{Name: "vllm", Command: []string{"no-such-program-here"}},
		Ready:  func(context.Context, string) error { return nil },
	})
	const want = `start vllm: exec: "no-such-program-here": executable file not found in $PATH`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestStartIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Start(ctx, Spec{
		Server: launch.Spec{Name: "vllm", Command: []string{os.Args[0]}, Env: []string{roleName + "=mute"}},
		Ready:  func(context.Context, string) error { cancel(); return errors.New("loading") },
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "start vllm: canceled after ") {
		t.Errorf("got %v", err)
	}
	if len(live.servers) != 0 {
		t.Errorf("%d servers still listed", len(live.servers))
	}
}

func TestSpecIsValidatedWhole(t *testing.T) {
	_, err := Start(t.Context(), Spec{Budget: -1, Server: launch.Spec{Grace: -time.Second}})
	const want = "process: Spec.Server.Name must not be empty\n" +
		"process: Spec.Server.Command must name a program\n" +
		"process: Spec.Ready must not be nil\n" +
		"process: Spec.Budget must not be negative, got -1ns\n" +
		"process: Spec.Server.Grace must not be negative, got -1s"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestErrOfAServerThatDied(t *testing.T) {
	r := newRoll(t)
	p, err := Start(t.Context(), Spec{
		Server: launch.Spec{
			Name: "vllm", Command: []string{os.Args[0]},
			Env: []string{roleName + "=front dies", fifoName + "=" + r.path},
		},
		Ready: func(context.Context, string) error { return nil },
	})
	if err == nil { // it may have died before Ready was asked
		<-p.Done()
		err = p.Err(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "exited with code 1 after ") {
		t.Errorf("got %v", err)
	}
	r.gone(t) // its workers too
}

func TestFreePortIsNeverHandedOutTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d twice", port)
		}
		seen[port] = true
	}
}
