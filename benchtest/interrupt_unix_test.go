//go:build !windows

package benchtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

const helperVariable = "OPENLOOP_BENCHTEST_HELPER"

// TestHelperMeasuresForLong is the test that TestASignal interrupts.
func TestHelperMeasuresForLong(t *testing.T) {
	if os.Getenv(helperVariable) == "" {
		t.Skip("it is run by TestASignal")
	}
	t.Chdir(os.Getenv(helperVariable))
	Measure(t, real{&script{first: time.Millisecond}}, small(Point{
		Workload: prompts{16, 1}, Arrivals: arrival.Constant{Rate: 50}, Requests: 5, Runs: 500,
		Limits: Limits{Lag: time.Hour, Achieved: 0.01},
	}))
	t.Log("it was not interrupted")
}

// A signal ends a measuring process as it would have without us, and the runs
// that were finished are on disk.
func TestASignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			if sig != syscall.SIGKILL && !slices.Contains(endings, os.Signal(sig)) {
				t.Skip("it is ignored here, as under nohup, and children inherit that")
			}
			dir := t.TempDir()
			var output bytes.Buffer
			cmd := exec.Command(os.Args[0], "-test.run=^TestHelperMeasuresForLong$", "-test.v")
			cmd.Env = append(os.Environ(), helperVariable+"="+dir)
			cmd.Stdout, cmd.Stderr = &output, &output
			require.NoError(t, cmd.Start())
			records := filepath.Join(dir, "testdata", "openloop", "records", "TestHelperMeasuresForLong", "constant-50.jsonl")
			finished := waitForRuns(t, records, 2)
			require.NoError(t, cmd.Process.Signal(sig))
			err := cmd.Wait()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, output.String())
			status := exit.Sys().(syscall.WaitStatus)
			assert.True(t, status.Signaled(), output.String())
			assert.Equal(t, sig, status.Signal())
			if sig != syscall.SIGKILL {
				assert.Contains(t, output.String(), "benchtest: interrupted by signal: "+sig.String()+": the load was called off; finished runs: ")
			}
			runs, err := Load(records)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(runs.Records), finished)
			assert.Empty(t, runs.Records[finished-1].Problems)
		})
	}
}

// waitForRuns waits until the file holds n records or more.
func waitForRuns(t *testing.T, path string, n int) int {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-tick.C {
		if text, err := os.ReadFile(path); err == nil {
			if lines := bytes.Count(text, []byte("\n")); lines >= n {
				return lines
			}
		}
	}
	t.Fatalf("%s did not get %d records in 30s", path, n)
	return 0
}
