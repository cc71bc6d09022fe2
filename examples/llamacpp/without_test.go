//go:build unix && !llamacpp

package llamacpp

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Where no server is named the gate fails and says what to set.
func TestWithoutAServerTheGateFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary; -short is set")
	}
	gate := exec.Command("go", "test", "-tags=llamacpp", "-count=1", ".")
	gate.Env = append(os.Environ(), "OPENLOOP_LLAMACPP_SERVER=", "OPENLOOP_LLAMACPP_MODEL=")
	out, err := gate.CombinedOutput()
	if err == nil {
		t.Fatalf("it passed:\n%s", out)
	}
	const want = `no server to measure: set OPENLOOP_LLAMACPP_SERVER to a llama-server, got "", ` +
		`and OPENLOOP_LLAMACPP_MODEL to a .gguf file, got ""; .ci/real-servers installs both`
	if got := strings.Count(string(out), want); got != 4 {
		t.Errorf("said %d times, want 4, by each test once: %s\n%s", got, want, out)
	}
	if strings.Contains(string(out), "SKIP") {
		t.Errorf("a test was skipped:\n%s", out)
	}
}
