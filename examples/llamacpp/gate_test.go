//go:build llamacpp

package llamacpp

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/engines/llamacpp"
	"github.com/openloop-go/openloop/regressions"
)

// The gate on a real server, on a real clock, with a real processor's noise:
// the server that the baseline was recorded on is not called slower, and one
// that takes its prompts two tokens at a time, which makes them about twice as
// slow, is.
func TestTheGate(t *testing.T) {
	usual, slow := server(t), server(t)
	slow.Args = []string{"--ubatch-size", "2"}
	own(t)

	baseline := start(t, "baseline", usual, 8)
	again := start(t, "the same again", usual, 5)
	slower := start(t, "2 tokens at a time", slow, 3)
	interleave(t, baseline, again, slower)
	baseline.record(t)

	switch verdict, text := again.judge(t); verdict {
	case regressions.Pass:
	case regressions.Inconclusive:
		again.counts(t, text)
	default:
		t.Errorf("the same configuration again: %s, want pass, or inconclusive with the number of runs needed", verdict)
	}
	if verdict, _ := slower.judge(t); verdict != regressions.Regressed {
		t.Errorf("prompts taken 2 tokens at a time: %s, want regressed", verdict)
	}
}

// Half the threads beside all of them, in turns, where this host has as many
// cores to give: the candidate is only slower if the control has all cores to
// itself. Where it had not, in any pair of runs, there is no slowdown to find,
// and the test says so.
func TestHalfTheThreads(t *testing.T) {
	cores := runtime.NumCPU()
	if cores < 2 {
		t.Skip("one core cannot be halved")
	}
	all, half := server(t), server(t)
	all.Threads, half.Threads = cores, cores/2
	// Threads that sleep while they wait leave a core to this process.
	all.Env = append(all.Env, "OMP_WAIT_POLICY=passive")
	half.Env = append(half.Env, "OMP_WAIT_POLICY=passive")
	own(t)

	point := prompts
	point.Runs = 3
	control, halved := benchtest.MeasureBoth(t, llamacpp.Start(t, all), llamacpp.Start(t, half), point)
	with, without := arm{name: "all threads", runs: control}, arm{name: "half the threads", runs: halved}
	with.report(t)
	without.report(t)

	before, after := with.logs(t, "p50-e2e-sec"), without.logs(t, "p50-e2e-sec")
	for i := range after {
		if ratio := math.Exp(after[i] - before[i]); ratio < 1.2 {
			t.Skipf("no slowdown to find: in pair %d, %d threads took %.2f times what %d took; "+
				"other programs use this host's cores, or its cores are halves of one",
				i+1, half.Threads, ratio, all.Threads)
		}
	}
	verdict, _ := without.verdict(t, func(said *said) { assert.NotSlower(said, halved, control, gate) })
	if verdict != regressions.Regressed {
		t.Errorf("half the threads: %s, want regressed", verdict)
	}
}

// counts checks an inconclusive verdict's count: it is final, at a number of
// runs at which the gate looks, it names the runs there are and the larger
// number that would decide, and the same runs judged again, from the file, say
// the same.
func (a *arm) counts(t *testing.T, text string) {
	t.Helper()
	records := a.runs.Records
	n := len(records)
	if !slices.Contains(looks, n) {
		t.Errorf("inconclusive after %d runs, which is none of the gate's looks", n)
	}
	files, err := filepath.Glob("testdata/openloop/*/*.bench")
	if err != nil || len(files) != 1 {
		t.Fatalf("baselines %v, %v", files, err)
	}
	base, err := regressions.ReadBaseline(files[0])
	if err != nil {
		t.Fatal(err)
	}
	candidate, err := regressions.FromRecords(records, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := regressions.Judge(base, candidate, gate)
	if v.Status != regressions.Inconclusive || v.NextLook != 0 || !strings.HasPrefix(text, v.Text()) {
		t.Errorf("judged again: next look %d, %s", v.NextLook, v.Text())
	}
	if have := fmt.Sprintf("%d runs", n); !strings.Contains(text, have) {
		t.Errorf("it does not say %q", have)
	}
	for _, f := range v.Findings {
		if f.Status != regressions.Inconclusive || f.Role != regressions.Gated {
			continue
		}
		if f.Needed.Candidate <= n && !f.Needed.Never {
			t.Errorf("%s is inconclusive after %d runs and says that %d would do", f.Metric, n, f.Needed.Candidate)
		}
	}
}
