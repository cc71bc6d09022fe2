package assert_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/regressions"
)

// path is where the baseline of small goes for a test of that name, on a toy.
const path = "testdata/openloop/TestDecode/small@84b926a2.bench"

// baseline is a fresh module with a stored baseline of 12 runs.
func baseline(t *testing.T) {
	t.Helper()
	afresh(t)
	recordBaseline(t, &toy{noise: 0.01, seed: 1}, small, regressions.Gate{})
}

func recordBaseline(t *testing.T, engine engines.Engine, p benchtest.Point, gate regressions.Gate) {
	t.Helper()
	t.Setenv("OPENLOOP_UPDATE", "1")
	var r recorder
	if !assert.NoRegression(&r, measured(t, engine, p, "TestDecode"), gate) {
		t.Fatal(r.said())
	}
	t.Setenv("OPENLOOP_UPDATE", "")
}

// head is the first line that was said, without what follows the words.
func head(r *recorder, words int) string {
	line, _, _ := strings.Cut(r.said(), "\n")
	fields := strings.Fields(line)
	return strings.Join(fields[:min(words, len(fields))], " ")
}

// The verdict itself is package regressions' and tested there; here it must
// reach the test, after as many runs as it takes.
func TestNoRegressionSaysTheVerdict(t *testing.T) {
	for _, row := range []struct {
		name   string
		engine *toy
		holds  bool
		head   string
		runs   int
	}{
		{"the same engine passes and says so", &toy{noise: 0.003, seed: 2}, true, "log: pass: p50-tpot-sec", 3},
		{"a slowdown within the margin takes more runs", &toy{noise: 0.01, seed: 2, slow: 1.03}, true, "log: pass: p50-tpot-sec", 5},
		{"a slowdown", &toy{noise: 0.003, seed: 2, slow: 1.1}, false, "error: regressed:", 3},
		{"an improvement", &toy{noise: 0.003, seed: 2, slow: 0.8}, true, "log: improved:", 3},
		{"an improvement that nobody believes", &toy{noise: 0.003, seed: 2, slow: 0.4}, false, "error: invalid: suspicious:", 3},
		{"noise that all looks do not resolve", &toy{noise: 0.3, seed: 2}, false, "error: inconclusive:", 12},
	} {
		t.Run(row.name, func(t *testing.T) {
			baseline(t)
			stored := files(t)
			runs := measured(t, row.engine, small, "TestDecode")
			var r recorder
			holds := assert.NoRegression(&r, runs, regressions.Gate{Margin: 0.05, Gates: 1}, "build %d", 7)
			if words := len(strings.Fields(row.head)); holds != row.holds || head(&r, words) != row.head {
				t.Errorf("returned %v and said\n%s\nwant %v and %s", holds, r.said(), row.holds, row.head)
			}
			if len(runs.Records) != row.runs {
				t.Errorf("it took %d runs, want %d", len(runs.Records), row.runs)
			}
			if !strings.Contains(r.said(), "\n    file       "+path+"\n") {
				t.Errorf("the baseline's file is not named:\n%s", r.said())
			}
			if told := strings.HasSuffix(r.said(), "\n    message    build 7\n"); told == row.holds {
				t.Errorf("the caller's message belongs to failures alone:\n%s", r.said())
			}
			if after := files(t); len(after) != 1 || after[path] != stored[path] {
				t.Error("judging changed the files")
			}
		})
	}
}

func TestAnInconclusiveVerdictDoesWhatTheConfigurationSays(t *testing.T) {
	for _, row := range []struct {
		is     string
		holds  bool
		prefix string
		so     string
	}{
		{"", false, "error: inconclusive:", ""},
		{"fail", false, "error: inconclusive:", ""},
		{"skip", false, "skip: inconclusive:", "    so         the test is skipped, because OPENLOOP_INCONCLUSIVE=skip\n"},
		{"warn", true, "log: inconclusive:", "    so         the test goes on, because OPENLOOP_INCONCLUSIVE=warn\n"},
	} {
		t.Run("is "+row.is, func(t *testing.T) {
			baseline(t)
			t.Setenv("OPENLOOP_INCONCLUSIVE", row.is)
			var r recorder
			runs := measured(t, &toy{noise: 0.3, seed: 2}, small, "TestDecode")
			if got := assert.NoRegression(&r, runs, regressions.Gate{Looks: []int{3, 5}}); got != row.holds {
				t.Errorf("returned %v, want %v", got, row.holds)
			}
			if head(&r, 2) != row.prefix || !strings.HasSuffix(r.said(), row.so) {
				t.Errorf("said\n%s", r.said())
			}
		})
	}
}

// A regression is one whatever inconclusive verdicts do.
func TestARegressionIsNeverSkipped(t *testing.T) {
	baseline(t)
	t.Setenv("OPENLOOP_INCONCLUSIVE", "skip")
	var r recorder
	if assert.NoRegression(&r, measured(t, &toy{slow: 1.2, seed: 2}, small, "TestDecode"), regressions.Gate{}) || len(r.errors) != 1 {
		t.Errorf("said\n%s", r.said())
	}
}

func TestLoadedRunsAreJudgedAsFarAsTheyGo(t *testing.T) {
	baseline(t)
	runs := &benchtest.Runs{Records: measured(t, &toy{noise: 0.3, seed: 2}, small, "TestDecode").Records}
	var r recorder
	if assert.NoRegression(&r, runs, regressions.Gate{}) {
		t.Error("passed")
	}
	const want = "\n    runs       3 here, 5 needed for the next look, and these cannot be extended: they were loaded, not measured\n"
	if head(&r, 2) != "error: inconclusive:" || !strings.Contains(r.said(), want) {
		t.Errorf("said\n%s", r.said())
	}
}

func TestMoreRunsThatCannotBeMadeFail(t *testing.T) {
	baseline(t)
	engine := &toy{noise: 0.3, seed: 2, broken: errors.New("exited with code 1")}
	t.Setenv("OPENLOOP_INCONCLUSIVE", "warn") // an engine that died is not a matter of chance
	var r recorder
	if assert.NoRegression(&r, measured(t, engine, small, "TestDecode"), regressions.Gate{}) {
		t.Error("passed")
	}
	const want = "    runs       3 here, 5 needed for the next look, and making them failed: benchtest: restart the engine: exited with code 1\n"
	if len(r.errors) != 1 || !strings.Contains(r.said(), want) {
		t.Errorf("said\n%s", r.said())
	}
}

func TestMoreRunsThatCannotBeTrustedFail(t *testing.T) {
	baseline(t)
	engine := &toy{noise: 0.3, seed: 2}
	runs := measured(t, engine, small, "TestDecode")
	engine.failing = engine.passes + 3 // past the ready check and the warmup of another start
	var r recorder
	if assert.NoRegression(&r, runs, regressions.Gate{}) {
		t.Error("passed")
	}
	// The next look is at five, and no run is made after one for nothing.
	if head(&r, 5) != "error: invalid: 1 of 4" || len(runs.Records) != 4 {
		t.Errorf("said\n%s", r.said())
	}
}

func TestAQueueThatGrowsIsARegression(t *testing.T) {
	baseline(t)
	var r recorder
	runs := measured(t, &toy{seed: 2, drown: 0.6}, small, "TestDecode")
	expect(t, &r, assert.NoRegression(&r, runs, regressions.Gate{}), false, `error: regressed: the queue grows at a load that the baseline held, so no latency is compared: growing: the backlog grows by 2.65 req/s: 10.38 offered, 7.73 served, 34 % over capacity for 19s; z 5.6, above 1.96 (3 runs, 600 arrivals)
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    file       testdata/openloop/TestDecode/small@84b926a2.bench
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`)
}

func TestAnUndecidedQueueTakesMoreRuns(t *testing.T) {
	afresh(t)
	near := small
	near.Requests = 80
	recordBaseline(t, &toy{seed: 1, service: 92 * time.Millisecond}, near, regressions.Gate{})
	tpot := []regressions.Metric{{Name: "p50-tpot-sec"}}
	engine := &toy{seed: 2, service: 92 * time.Millisecond}
	runs := measured(t, engine, near, "TestDecode")
	var r recorder
	if assert.NoRegression(&r, runs, regressions.Gate{Metrics: tpot, Looks: []int{3}}) || head(&r, 14) != "error: inconclusive: no slower, but only if the queue does not grow, which is" {
		t.Errorf("said\n%s", r.said())
	}
	for _, line := range []string{"\n    queue      undecided: 3 runs, 240 arrivals", "\n    verdict    pass: p50-tpot-sec", "\n    or         set Point.Capacity:"} {
		if !strings.Contains(r.said(), line) {
			t.Errorf("said\n%s\nwant%s …", r.said(), line)
		}
	}
	// The gate would have passed after three runs; the queue takes five.
	r = recorder{}
	if !assert.NoRegression(&r, runs, regressions.Gate{Metrics: tpot}) || len(runs.Records) != 5 {
		t.Errorf("%d runs, said\n%s", len(runs.Records), r.said())
	}
	// At a load that is known to be quiet three are enough.
	near.Capacity = 15
	runs = measured(t, engine, near, "TestDecode")
	r = recorder{}
	if !assert.NoRegression(&r, runs, regressions.Gate{Metrics: tpot}) || len(runs.Records) != 3 {
		t.Errorf("%d runs, said\n%s", len(runs.Records), r.said())
	}
}

func TestGatesAreCountedWhereTheyAreNotDeclared(t *testing.T) {
	baseline(t)
	other := small
	other.Name = "other"
	recordBaseline(t, &toy{noise: 0.01, seed: 1}, other, regressions.Gate{})
	for gates, want := range map[int]string{0: "over 16 comparisons", 1: "over 8 comparisons"} {
		var r recorder
		runs := measured(t, &toy{noise: 0.003, seed: 2}, small, "TestDecode")
		if !assert.NoRegression(&r, runs, regressions.Gate{Gates: gates}) || !strings.Contains(r.said(), want) {
			t.Errorf("Gates %d: want %s, said\n%s", gates, want, r.said())
		}
	}
}
