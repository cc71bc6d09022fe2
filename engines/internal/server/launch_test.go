package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/process"
	"github.com/openloop-go/openloop/engines/launch"
)

func TestLaunchAndRestart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	log := filepath.Join(t.TempDir(), "server.log")
	s, err := Launch(t.Context(), testKind(), launch.Config{
		Model: "m", APIKey: "sesame-open", LogFile: log, Args: []string{"-tp", "2"}, Env: []string{"A=b", "MY_TOKEN=t"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	first := s.Client().URL()
	id := s.Identity()
	want := map[string]string{"tensor_parallel_size": "2", "env.A": "b"}
	if !reflect.DeepEqual(id.Settings, want) || id.Model != "m" || id.Engine != "vllm" {
		t.Errorf("identity %+v", id)
	}
	port := first[strings.LastIndex(first, ":")+1:]
	if got, want := id.Command, os.Args[0]+" m --port "+port+" --details -tp 2"; got != want {
		t.Errorf("command %q, want %q", got, want)
	}
	if got := s.Instance(); !strings.HasPrefix(got, "start 1, pid ") {
		t.Errorf("instance %q", got)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Client().URL() == first || !strings.HasPrefix(s.Instance(), "start 2, pid ") {
		t.Errorf("after a restart: %s, %s", s.Client().URL(), s.Instance())
	}
	reply, err := s.Generate(t.Context(), probe(false), func(engines.Chunk) {})
	if err != nil || reply.OutputTokens != engines.Known(2) {
		t.Errorf("generate: %+v, %v", reply, err)
	}
	for _, file := range []string{log, strings.TrimSuffix(log, ".log") + "-2.log"} {
		text, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(text), "serving m with ") || strings.Contains(string(text), "sesame") {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
}

var variable = regexp.MustCompile(`(after )[0-9.]+m?s|127\.0\.0\.1:\d+|\S+/[^ ]*\.log|--port \d+`)

func TestLaunchSaysWhatToDo(t *testing.T) {
	tests := []struct {
		name   string
		config launch.Config
		want   string
	}{
		{"no program", launch.Config{Model: "m", Command: []string{"no-such-program"}},
			`start vllm: no program "no-such-program" here, and no server to attach to: install it (pip install it), ` +
				`or set Config.Command, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs`},
		{"no GPU", launch.Config{Model: "m", Env: []string{roleName + "=gpuless"}},
			"start vllm: exited with code 1 ~, log in ~; its last lines:\n" +
				"    serving m with ~ --details \n" +
				"    RuntimeError: Failed to infer device type\n" +
				"no usable GPU: run where there is one, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs"},
		{"another model", launch.Config{Model: "m", Env: []string{roleName + "=mislabelled"}},
			`start vllm: http://~ (the server just started): it serves "another", want "m": ` +
				"ask for what it serves in Config.Model or OPENLOOP_MODEL, or point the URL elsewhere, log in ~; its last lines:\n" +
				"    serving m with ~ --details "},
		{"no model", launch.Config{},
			"vllm: Config.Model must name the model to serve, or OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL a server that runs"},
		{"all that is wrong at once", launch.Config{
			StartBudget: -1, Command: []string{""}, Env: []string{"SECRET"}, Args: []string{"--port=1", "--api-key", "k"}},
			"vllm: Config.StartBudget must not be negative, got -1ns\n" +
				"vllm: Config.Command must begin with a program, got an empty word\n" +
				"vllm: Config.Env must hold KEY=VALUE, Config.Env[0] does not\n" +
				"vllm: Config.Args must not hold --port: every start gets its own\n" +
				"vllm: Config.Args must not hold --api-key: set Config.APIKey\n" +
				"vllm: Config.Model must name the model to serve, or OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL a server that runs"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			_, err := Launch(t.Context(), testKind(), test.config)
			if err == nil {
				t.Fatal("started")
			}
			if got := variable.ReplaceAllString(err.Error(), "~"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// fake is a test that records instead of failing, and may have a deadline.
type fake struct {
	testing.TB
	deadline time.Time
	errors   []string
	logs     []string
	cleanups []func()
}

func (f *fake) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *fake) Logf(format string, args ...any) {
	f.logs = append(f.logs, fmt.Sprintf(format, args...))
}
func (f *fake) Failed() bool                { return len(f.errors) > 0 }
func (f *fake) FailNow()                    { panic(f) }
func (f *fake) Cleanup(fn func())           { f.cleanups = append(f.cleanups, fn) }
func (f *fake) Context() context.Context    { return f.TB.Context() }
func (f *fake) Deadline() (time.Time, bool) { return f.deadline, !f.deadline.IsZero() }

// run calls Start and returns its server, or nil when it failed the test.
func (f *fake) run(c launch.Config) (s *Server) {
	defer func() {
		if r := recover(); r != nil && r != any(f) {
			panic(r)
		}
	}()
	return Start(f, testKind(), c)
}

func TestStartEndsWithTheTest(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_ARTIFACTS", t.TempDir())
	f := &fake{TB: t}
	s := f.run(launch.Config{Model: "m"})
	if s == nil || len(f.cleanups) != 1 {
		t.Fatalf("%v", f.errors)
	}
	want := regexp.MustCompile(`^vllm: started \S+ m --port \d+ --details, log in ` +
		regexp.QuoteMeta(os.Getenv("OPENLOOP_ARTIFACTS")) + `/logs/vllm-[0-9.-]+\.log$`)
	if len(f.logs) != 1 || !want.MatchString(f.logs[0]) {
		t.Errorf("logs %q", f.logs)
	}
	f.cleanups[0]()
	select {
	case <-s.Process().Done():
	default:
		t.Error("the server outlives its test")
	}
	if len(f.errors) != 0 {
		t.Errorf("errors %q", f.errors)
	}
}

func TestServerThatDiesFailsItsTest(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := &fake{TB: t}
	s := f.run(launch.Config{Model: "m"})
	if s == nil {
		t.Fatalf("%v", f.errors)
	}
	_, _ = s.Client().Do(t.Context(), "POST", "/die", nil)
	select {
	case <-s.Process().Done():
	case <-time.After(10 * time.Second):
		t.Error("the server did not die")
	}
	f.cleanups[0]()
	if len(f.errors) != 1 || !strings.HasPrefix(f.errors[0], "vllm: exited with code 7 after ") {
		t.Errorf("errors %q", f.errors)
	}
}

func TestStartWithinTheDeadline(t *testing.T) {
	tests := []struct {
		name string
		left time.Duration
		want string
	}{
		{"no time at all", 5 * time.Second, `^start vllm: the test's deadline is in 5s: raise -timeout$`},
		{"too little", reserve + 2*time.Second,
			`^start vllm: not ready after [0-9.]+m?s: .*; raise -timeout, which left no more, if it only needs longer, log in \S+; its last lines:\n    serving m with `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			f := &fake{TB: t, deadline: time.Now().Add(test.left)}
			// It says something at once, and never serves.
			f.run(launch.Config{Model: "m", Command: []string{"sh", "-c", "echo serving m with nothing; exec sleep 60"}})
			if len(f.errors) != 1 || !regexp.MustCompile(test.want).MatchString(f.errors[0]) {
				t.Errorf("errors %q, want %s", f.errors, test.want)
			}
		})
	}
	process.StopAll(t.Context()) // none is left, or goroutines would be
}
