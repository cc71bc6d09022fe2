//go:build unix && !gpu

package sglang

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Where there is no server the gate fails and says what to set.
func TestWithoutAServerTheGateFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary; -short is set")
	}
	env, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	// The tests run where no program is found, SGLang no more than python.
	gate := exec.Command("go", "test", "-tags=gpu", "-count=1", "-exec", env+" PATH=", ".")
	gate.Env = append(os.Environ(), "OPENLOOP_SGLANG_URL=", "OPENLOOP_ENGINE_URL=")
	out, err := gate.CombinedOutput()
	if err == nil {
		t.Fatalf("it passed:\n%s", out)
	}
	const want = `start sglang: no program "python3" here, and no server to attach to: install SGLang (pip install "sglang[all]"), ` +
		`or set Config.Command, or set OPENLOOP_SGLANG_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs`
	if got := strings.Count(string(out), want); got != 2 {
		t.Errorf("said %d times, want 2, by each test once: %s\n%s", got, want, out)
	}
	if strings.Contains(string(out), "SKIP") {
		t.Errorf("a test was skipped:\n%s", out)
	}
}
