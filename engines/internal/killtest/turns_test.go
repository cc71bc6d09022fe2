//go:build linux

package killtest

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/vllm"
)

// Test binaries that are attached to one server measure it one after the
// other, and those who wait say for whom. One that is killed keeps nobody
// waiting.
func TestTestBinariesTakeTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server and measures it; -short is set")
	}
	locks := t.TempDir()
	t.Setenv("OPENLOOP_LOCKS", locks)
	t.Setenv("OPENLOOP_ARTIFACTS", t.TempDir())
	engine, stop, err := vllm.Launch(t.Context(), vllm.Config{Model: "m", Command: []string{os.Args[0]}, Env: []string{roleName + "=server"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	t.Setenv("OPENLOOP_VLLM_URL", engine.(*vllm.Server).URL())
	one := start(t, plan{runs: 1000, env: []string{"OPENLOOP_LOCKS=" + locks}})
	if !until(func() bool { return one.reported() > 0 }) {
		t.Fatalf("it does not measure:\n%s", one.output.String())
	}
	victims := []*victim{one}
	for range 2 {
		v := start(t, plan{runs: 3, env: []string{"OPENLOOP_LOCKS=" + locks}})
		victims = append(victims, v)
		if !until(func() bool { return waiting.MatchString(v.output.String()) }) {
			t.Fatalf("it does not wait:\n%s", v.output.String())
		}
	}
	_ = one.cmd.Process.Kill()
	var spans [][2]time.Time
	for _, v := range victims {
		if err := v.cmd.Wait(); err != nil && v != one {
			t.Errorf("%v\n%s", err, v.output.String())
		}
		records, err := v.records(t)
		if err != nil || len(records) < v.reported() || len(records) == 0 {
			t.Fatalf("%d runs, %v:\n%s", len(records), err, v.output.String())
		}
		last := records[len(records)-1]
		spans = append(spans, [2]time.Time{records[0].Time, last.Time.Add(last.To)})
	}
	slices.SortFunc(spans, func(a, b [2]time.Time) int { return a[0].Compare(b[0]) })
	for i := range spans[1:] {
		if spans[i+1][0].Before(spans[i][1]) {
			t.Errorf("they measured at once: %v", spans)
		}
	}
}

// waiting is what one says that waits for another test binary.
var waiting = regexp.MustCompile(`vllm: waiting for http://127\.0\.0\.1:\d+, which killtest\.test\S* \(pid \d+, TestVictim, in \S+\) has held since [\d:]+(, and somebody else is next to have)? \(waited 0s\)`)
