package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/launch"
)

// However soon after its death a test ends, it is told of it; and so is each
// request that came too late.
func TestServerThatDiesJustBeforeItsTestEnds(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, late := range []bool{false, true} {
		f := &fake{TB: t}
		s := f.run(launch.Config{Model: "m"})
		if s == nil {
			t.Fatalf("%v", f.errors)
		}
		log := s.Process().Log().Path()
		_, _ = s.Client().Do(t.Context(), "POST", "/die", nil)
		if late {
			<-s.Process().Done()
			_, err := s.Generate(t.Context(), probe(false), func(engines.Chunk) {})
			e := (*engines.Error)(nil)
			if !errors.As(err, &e) || e.Class != engines.Unreachable {
				t.Fatalf("got %v", err)
			}
			got := strings.ReplaceAll(strings.ReplaceAll(err.Error(), s.Client().URL(), "URL"), log, "LOG")
			got = variable.ReplaceAllString(got, "~")
			if want := "URL: POST /v1/completions: connection refused: start the server or correct the URL; vllm exited with code 7 ~, log in LOG"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		f.cleanups[0]()
		if len(f.errors) != 1 || !strings.HasPrefix(f.errors[0], "vllm: exited with code 7 after ") || !strings.Contains(f.errors[0], "\n    serving m with ") {
			t.Errorf("errors %q", f.errors)
		}
	}
}

// What answers may outlive what computes: the log tells.
func TestServerThatSaysThatItCannotGoOn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Launch(t.Context(), testKind(), launch.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	const line = "(APIServer pid=7) vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."
	_, _ = s.Process().Log().Write([]byte(line + "\n"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it would be waited for
	err = s.Close(ctx)
	if err == nil || !strings.HasPrefix(err.Error(), `vllm: it has said that it cannot go on and has not ended ("(APIServer pid=7) vllm.v1.engine.exceptions.EngineDeadError`) {
		t.Errorf("got %v", err)
	}
}

// A death is told while the server lies dead, not at the end of the test alone.
func TestDeath(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Launch(t.Context(), testKind(), launch.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Death(t.Context()); err != nil {
		t.Errorf("of one that runs: %v", err)
	}
	_, _ = s.Client().Do(t.Context(), "POST", "/die", nil)
	<-s.Process().Done()
	for range 2 { // every test that asks is told
		if err := s.Death(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "vllm: exited with code 7 after ") || !strings.Contains(err.Error(), "\n    serving m with ") {
			t.Errorf("got %v", err)
		}
	}
	if err := s.Close(t.Context()); err == nil {
		t.Error("Close() does not tell of it")
	}
	if err := s.Death(t.Context()); err != nil {
		t.Errorf("of one that was closed: %v", err)
	}
	if s, err = Launch(t.Context(), testKind(), launch.Config{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Death(t.Context()); err != nil {
		t.Errorf("of one that was stopped: %v", err)
	}
}
