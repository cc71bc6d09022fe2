//go:build unix && !gpu

package sglang

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where there is no server, or no GPU for it, the gate fails and says what to
// set; it does not skip, and it does not measure the processor instead.
func TestWithoutAServerTheGateFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary; -short is set")
	}
	env, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	program := t.TempDir() // with a python3 that need not work
	if err := os.WriteFile(filepath.Join(program, "python3"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"no program", "", `start sglang: no program "python3" here, and no server to attach to: install SGLang (pip install "sglang[all]"), ` +
			`or set Config.Command, or set OPENLOOP_SGLANG_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs`},
		{"no GPU", program, `start sglang: Config.GPUs is "all": no usable GPU: run where there is one, ` +
			`or set OPENLOOP_SGLANG_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// The tests run where no other program is found.
			gate := exec.Command("go", "test", "-tags=gpu", "-count=1", "-exec", env+" PATH="+test.path, ".")
			gate.Env = append(os.Environ(), "OPENLOOP_SGLANG_URL=", "OPENLOOP_ENGINE_URL=", "CUDA_VISIBLE_DEVICES=",
				"OPENLOOP_LOCKS="+t.TempDir()) // nothing is measured, so nobody need wait
			out, err := gate.CombinedOutput()
			if err == nil {
				t.Fatalf("it passed:\n%s", out)
			}
			if got := strings.Count(string(out), test.want); got != 2 {
				t.Errorf("said %d times, want 2, by each test once: %s\n%s", got, test.want, out)
			}
			if strings.Contains(string(out), "SKIP") {
				t.Errorf("a test was skipped:\n%s", out)
			}
		})
	}
}
