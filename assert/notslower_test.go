package assert_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/regressions"
)

// inTurns measures two toys at once.
func inTurns(t *testing.T, control, candidate *toy, p benchtest.Point) (old, now *benchtest.Runs) {
	t.Helper()
	old, now, err := benchtest.RunBoth(t.Context(), control, candidate, p, benchtest.Options{Test: "TestDecode"})
	if err != nil {
		t.Fatal(err)
	}
	return old, now
}

func TestNotSlowerSaysTheVerdict(t *testing.T) {
	for _, row := range []struct {
		name               string
		control, candidate *toy
		holds              bool
		head               string
		runs               int
	}{
		{"the same build", &toy{noise: 0.003, seed: 1}, &toy{noise: 0.003, seed: 2}, true, "log: pass: p50-tpot-sec", 3},
		{"the same build on a machine that is slower today", &toy{noise: 0.003, seed: 1, slow: 1.1}, &toy{noise: 0.003, seed: 2, slow: 1.1}, true, "log: pass: p50-tpot-sec", 3},
		{"a slower build", &toy{noise: 0.003, seed: 1}, &toy{noise: 0.003, seed: 2, slow: 1.1}, false, "error: regressed:", 3},
		{"a faster build", &toy{noise: 0.003, seed: 1}, &toy{noise: 0.003, seed: 2, slow: 0.8}, true, "log: improved:", 3},
		{"noise that takes more runs of both", &toy{noise: 0.02, seed: 1}, &toy{noise: 0.02, seed: 7}, true, "log: pass: p50-tpot-sec", 5},
		{"noise that all looks do not resolve", &toy{noise: 0.3, seed: 5}, &toy{noise: 0.3, seed: 6}, false, "error: inconclusive:", 12},
	} {
		t.Run(row.name, func(t *testing.T) {
			afresh(t)
			old, now := inTurns(t, row.control, row.candidate, small)
			var r recorder
			holds := assert.NotSlower(&r, now, old, regressions.Gate{}, "build %d", 7)
			if words := len(strings.Fields(row.head)); holds != row.holds || head(&r, words) != row.head {
				t.Errorf("returned %v and said\n%s\nwant %v and %s", holds, r.said(), row.holds, row.head)
			}
			if len(now.Records) != row.runs || len(old.Records) != row.runs {
				t.Errorf("it took %d runs and %d of the control, want %d", len(now.Records), len(old.Records), row.runs)
			}
			if row.control.starts != row.runs-1 || row.candidate.starts != row.runs-1 {
				t.Errorf("restarted %d and %d times, want once for each run after the first", row.control.starts, row.candidate.starts)
			}
			if strings.Contains(r.said(), "\n    file ") || len(files(t)) != 0 {
				t.Errorf("nothing is stored, said\n%s", r.said())
			}
		})
	}
}

func TestNotSlowerRefusesWhatIsNoComparison(t *testing.T) {
	afresh(t)
	old, now := inTurns(t, &toy{seed: 1}, &toy{seed: 2}, small)
	spoilt := *old
	spoilt.Records = spoiled().Records
	oldDrowns, nowHolds := inTurns(t, &toy{seed: 1, drown: 0.6}, &toy{seed: 2}, small)
	oldHolds, nowDrowns := inTurns(t, &toy{seed: 1}, &toy{seed: 2, drown: 0.6}, small)
	for _, row := range []struct {
		name               string
		candidate, control *benchtest.Runs
		gate               regressions.Gate
		want               string
	}{
		{"swapped", old, now, regressions.Gate{}, "error: assert: NotSlower: the arms are swapped: the candidate comes first, then the control"},
		{"itself", now, now, regressions.Gate{}, "error: assert: NotSlower: candidate and control are the same runs"},
		{"no control", now, nil, regressions.Gate{}, "error: of the control: no runs: nothing was measured"},
		{"a control that cannot be trusted", now, &spoilt, regressions.Gate{}, "error: of the control: invalid:"},
		{"a gate that is none", now, old, regressions.Gate{Margin: 7}, "error: regressions: Gate.Margin must be"},
		{"throughput of an open loop", now, old, regressions.Gate{Metrics: []regressions.Metric{{Name: "output-tok/s"}}}, "error: assert: Gate.Metrics: output-tok/s on an open loop is refused"},
		{"a control whose queue grows", nowHolds, oldDrowns, regressions.Gate{}, "error: invalid: the queue of the control grows, so nothing can be compared with it: growing:"},
		{"a candidate whose queue grows", nowDrowns, oldHolds, regressions.Gate{}, "error: regressed: the queue grows at a load that the control holds, so no latency is compared: growing:"},
	} {
		var r recorder
		if assert.NotSlower(&r, row.candidate, row.control, row.gate) || !strings.HasPrefix(r.said(), row.want) {
			t.Errorf("%s: said\n%s\nwant %s", row.name, r.said(), row.want)
		}
	}
}

func TestRunsOfBothThatCannotBeMadeFail(t *testing.T) {
	afresh(t)
	control, candidate := &toy{noise: 0.3, seed: 5}, &toy{noise: 0.3, seed: 6}
	old, now := inTurns(t, control, candidate, small)
	control.broken = errors.New("exited with code 1")
	var r recorder
	const want = "    runs       3 here, 5 needed for the next look, and making them failed: benchtest: restart the engine: exited with code 1\n"
	if assert.NotSlower(&r, now, old, regressions.Gate{}) || !strings.Contains(r.said(), want) {
		t.Errorf("said\n%s", r.said())
	}
	old, now = inTurns(t, &toy{noise: 0.3, seed: 5}, &toy{noise: 0.3, seed: 6}, small)
	loaded := &benchtest.Runs{Records: now.Records}
	r = recorder{}
	if assert.NotSlower(&r, loaded, &benchtest.Runs{Records: old.Records}, regressions.Gate{}) || !strings.Contains(r.said(), "these cannot be extended") {
		t.Errorf("said\n%s", r.said())
	}
}

// tt-metal#50075, TensorRT-LLM#696: everything is 10 % slower today, and the
// old build, measured again, is too. The stored baseline alone blames the
// build; with the frozen control beside both it is cleared.
func TestAControlBesideTheBaselineTakesTheMachineOff(t *testing.T) {
	afresh(t)
	t.Setenv("OPENLOOP_UPDATE", "1")
	_, then := inTurns(t, &toy{noise: 0.003, seed: 1, slow: 1.05}, &toy{noise: 0.003, seed: 2}, small)
	var r recorder
	if !assert.NoRegression(&r, then, regressions.Gate{}) {
		t.Fatal(r.said())
	}
	if len(then.Records) != 12 || len(then.Control.Records) != 12 || !strings.Contains(files(t)[path], "/control 1 ") {
		t.Fatalf("%d runs and %d of the control were recorded:\n%s", len(then.Records), len(then.Control.Records), files(t)[path])
	}
	t.Setenv("OPENLOOP_UPDATE", "")
	for _, row := range []struct {
		name           string
		machine, build float64
		control        bool
		holds          bool
		head           string
	}{
		{"a slow machine, without a control", 1.1, 1, false, false, "error: regressed:"},
		{"a slow machine", 1.1, 1, true, true, "log: pass:"},
		{"a slow build", 1, 1.1, true, false, "error: regressed:"},
		{"a slow build on a fast machine", 0.9, 1.1, true, false, "error: regressed:"},
	} {
		_, today := inTurns(t, &toy{noise: 0.003, seed: 3, slow: 1.05 * row.machine}, &toy{noise: 0.003, seed: 4, slow: row.machine * row.build}, small)
		if !row.control {
			today.Control = nil
		}
		var r recorder
		if got := assert.NoRegression(&r, today, regressions.Gate{}); got != row.holds || head(&r, 2) != row.head {
			t.Errorf("%s: returned %v, said\n%s", row.name, got, r.said())
		}
		if row.control != strings.Contains(r.said(), "\n    control    ") {
			t.Errorf("%s: said\n%s", row.name, r.said())
		}
	}
}

// A control that cannot be trusted spoils the runs beside it for every
// assertion.
func TestAnInvalidControlFailsValid(t *testing.T) {
	afresh(t)
	_, now := inTurns(t, &toy{seed: 1, failing: 3}, &toy{seed: 2}, small)
	var r recorder
	if assert.Valid(&r, now) || !strings.HasPrefix(r.said(), "error: of the control: invalid: 1 of 3 runs cannot be trusted") {
		t.Errorf("said\n%s", r.said())
	}
}
