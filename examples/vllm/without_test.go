//go:build unix && !gpu && !vllm

package vllm

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
	// The tests run where no program is found, python no more than vllm.
	gate := exec.Command("go", "test", "-tags=gpu", "-count=1", "-exec", env+" PATH=", ".")
	gate.Env = append(os.Environ(), "OPENLOOP_VLLM_URL=", "OPENLOOP_ENGINE_URL=")
	out, err := gate.CombinedOutput()
	if err == nil {
		t.Fatalf("it passed:\n%s", out)
	}
	const want = `start vllm: no program "vllm" here, and no server to attach to: install vLLM (pip install vllm), ` +
		`or set Config.Command, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs`
	if got := strings.Count(string(out), want); got != 2 {
		t.Errorf("said %d times, want 2, by each test once: %s\n%s", got, want, out)
	}
	if strings.Contains(string(out), "SKIP") {
		t.Errorf("a test was skipped:\n%s", out)
	}
}

// Nor does the gate on the processor pass without one.
func TestWithoutAServerTheGateOnAProcessorFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary; -short is set")
	}
	gate := exec.Command("go", "test", "-tags=vllm", "-count=1", ".")
	gate.Env = append(os.Environ(), "OPENLOOP_VLLM_SERVER=", "OPENLOOP_VLLM_MODEL=")
	out, err := gate.CombinedOutput()
	if err == nil {
		t.Fatalf("it passed:\n%s", out)
	}
	const want = `no server to measure: set OPENLOOP_VLLM_SERVER to a vllm program, got "", ` +
		`and OPENLOOP_VLLM_MODEL to a model's folder, got ""; .ci/real-vllm installs both`
	if got := strings.Count(string(out), want); got != 1 {
		t.Errorf("said %d times, want once: %s\n%s", got, want, out)
	}
	if strings.Contains(string(out), "SKIP") {
		t.Errorf("a test was skipped:\n%s", out)
	}
}
