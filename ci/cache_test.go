package ci

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A result that go test has cached must not be served once a variable that
// Load reads has changed; with the environment read as a whole it would be.
func TestAChangedVariableIsNotServedFromTheTestCache(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary; -short is set")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	run := func(env ...string) bool {
		cmd := exec.Command("go", "test", "-run", "^TestLoadForTheCache$", "./ci")
		cmd.Dir = root
		cmd.Env = append(append(os.Environ(), "GOFLAGS="), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go test: %v\n%s", err, out)
		}
		return strings.Contains(string(out), "(cached)")
	}
	run("OPENLOOP_MODEL=a", "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=1")
	if !run("OPENLOOP_MODEL=a", "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=1") {
		t.Fatal("the same environment ought to be served from the cache, or this test shows nothing")
	}
	if run("OPENLOOP_MODEL=b", "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=1") {
		t.Error("another OPENLOOP_MODEL was served from the cache")
	}
	if run("OPENLOOP_MODEL=a", "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=2") {
		t.Error("another run id was served from the cache")
	}
}

func TestLoadForTheCache(t *testing.T) {
	if _, err := Load(); err != nil {
		t.Fatal(err)
	}
}
