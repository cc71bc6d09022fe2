package assert_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/regressions"
)

// TestInner is the test of a user, for TestTheFlagOfATestBinary to run in a
// process and a folder of its own.
func TestInner(t *testing.T) {
	if os.Getenv("ASSERT_TEST_INNER") == "" {
		return
	}
	assert.NoRegression(t, measured(t, &toy{seed: 1, noise: 0.003}, small, t.Name()), regressions.Gate{})
}

// A test binary that imports this package knows the flag, and go test's exit
// status is that of the verdict.
func TestTheFlagOfATestBinary(t *testing.T) {
	afresh(t)
	inner := func(flags ...string) (string, bool) {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestInner$", "-test.v"}, flags...)...)
		cmd.Env = append(os.Environ(), "ASSERT_TEST_INNER=1")
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	const file = "testdata/openloop/TestInner/small@84b926a2.bench"
	for _, step := range []struct {
		name  string
		flags []string
		ok    bool
		says  string
		found bool
	}{
		{"without a baseline it fails with the command", nil, false, "record it  go test . -run '^TestInner$' -openloop.update\n", false},
		{"=false changes nothing", []string{"-openloop.update=false"}, false, "no baseline, so nothing was compared", false},
		{"the flag records one", []string{"-openloop.update"}, true, "baseline created: 12 runs, 2 starts", true},
		{"then it passes", nil, true, "pass: p50-tpot-sec", true},
		{"another word is refused", []string{"-openloop.update=yes"}, false, "must be true, false, create or append", true},
	} {
		out, ok := inner(step.flags...)
		if ok == step.ok && step.flags == nil && !strings.Contains(out, "    flag_test.go:") {
			t.Errorf("%s: said in another place than the test's own line:\n%s", step.name, out)
		}
		if ok != step.ok || !strings.Contains(out, step.says) {
			t.Errorf("%s: passed %v, want %v and %q, said\n%s", step.name, ok, step.ok, step.says, out)
		}
		if _, found := files(t)[file]; found != step.found {
			t.Errorf("%s: the baseline is there: %v, want %v", step.name, found, step.found)
		}
	}
}
