//go:build unix

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/launch"
)

// The log of a server is there for who looks for a failure: it is removed with
// a test that passed, unless somebody said where it is to be.
func TestLogsOfServers(t *testing.T) {
	for _, row := range []struct {
		name            string
		artifacts, file bool
		fails           string // what fails the test
		restarts        bool
		kept            int
	}{
		{"a test that passes", false, false, "", false, 0},
		{"a test that passes, of a server that was restarted", false, false, "", true, 0},
		{"a test that fails", false, false, "the test", false, 1},
		{"a test that fails, of a server that was restarted", false, false, "the test", true, 2},
		{"a test whose server died", false, false, "the server", false, 1},
		{"a folder for artifacts", true, false, "", true, 2},
		{"a file that was named", false, true, "", false, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			temporary, chosen := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", temporary)
			t.Setenv("OPENLOOP_ARTIFACTS", "")
			c := launch.Config{Model: "m"}
			if row.artifacts {
				t.Setenv("OPENLOOP_ARTIFACTS", chosen)
			}
			if row.file {
				c.LogFile = filepath.Join(chosen, "server.log")
			}
			f := &fake{TB: t}
			s := f.run(c)
			if s == nil {
				t.Fatalf("%v", f.errors)
			}
			told := strings.HasSuffix(f.logs[0], ".log (kept if the test fails, or where OPENLOOP_ARTIFACTS says)")
			if told == (row.artifacts || row.file) {
				t.Errorf("logs %q", f.logs)
			}
			if row.restarts {
				if err := s.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			switch row.fails {
			case "the test":
				f.Errorf("it fails")
			case "the server":
				_, _ = s.Client().Do(t.Context(), "POST", "/die", nil)
				<-s.Process().Done()
			}
			f.cleanups[0]()
			logs := 0
			for _, folder := range []string{filepath.Join(temporary, "*.log"), filepath.Join(chosen, "*.log"), filepath.Join(chosen, "logs", "*.log")} {
				names, err := filepath.Glob(folder)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					if text, err := os.ReadFile(name); err != nil || len(text) == 0 {
						t.Errorf("%s: %v, %d bytes", name, err, len(text))
					}
				}
				logs += len(names)
			}
			if logs != row.kept {
				t.Errorf("%d logs were kept, want %d", logs, row.kept)
			}
		})
	}
}

// A server that several tests share is started without one of them.
func TestLogOfASharedServer(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_ARTIFACTS", t.TempDir())
	s, err := Launch(t.Context(), testKind(), launch.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Process().Log().Path(); !strings.HasPrefix(got, os.Getenv("OPENLOOP_ARTIFACTS")+"/logs/vllm-") {
		t.Error(got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
