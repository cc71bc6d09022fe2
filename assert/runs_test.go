package assert_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/regressions"
	"github.com/openloop-go/openloop/regressions/stat"
)

// Whatever OPENLOOP_RUNS says, each mode does something that can be used, or
// refuses it in one message before anything is measured.
func TestRunsOfTheEnvironment(t *testing.T) {
	const few = ", and a baseline of fewer than 3 runs compares with nothing, so none was made: unset it for 12 runs, set it to 3 or more, or unset OPENLOOP_UPDATE (and -openloop.update)"
	for _, row := range []struct {
		name, runs, update string
		refused            string
		said               string
		made, starts       int
	}{
		{"a first look of one run grows to the first that decides", "1", "", "", "log: pass:", 3, 2},
		{"of two", "2", "", "", "log: pass:", 3, 2},
		{"of twelve is the last", "12", "", "", "log: pass:", 12, 2},
		{"of a hundred is one look", "100", "", "", "log: pass:", 100, 2},
		{"a baseline of one run", "1", "1", "ci: OPENLOOP_RUNS is 1" + few, "", 0, 0},
		{"a baseline of two", "2", "1", "ci: OPENLOOP_RUNS is 2" + few, "", 0, 0},
		{"a baseline of three", "3", "1", "", "log: baseline replaced: 3 runs, 2 starts, in place of 12 runs", 3, 2},
		{"a baseline of twelve", "12", "1", "", "log: baseline replaced: 12 runs, 2 starts, in place of 12 runs", 12, 2},
		{"a baseline of a hundred", "100", "1", "", "log: baseline replaced: 100 runs, 2 starts, in place of 12 runs", 100, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			baseline(t)
			t.Setenv("OPENLOOP_RUNS", row.runs)
			t.Setenv("OPENLOOP_UPDATE", row.update)
			config, err := ci.Load()
			if row.refused != "" {
				if err == nil || err.Error() != row.refused {
					t.Errorf("got %v, want %s", err, row.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			runs, err := benchtest.Run(t.Context(), &toy{noise: 0.003, seed: 2}, small, benchtest.Options{Test: "TestDecode", Config: config})
			if err != nil {
				t.Fatal(err)
			}
			var r recorder
			if !assert.NoRegression(&r, runs, regressions.Gate{Gates: 1}) || !strings.HasPrefix(r.said(), row.said) {
				t.Errorf("said\n%s\nwant %s", r.said(), row.said)
			}
			starts := map[int]bool{}
			for _, record := range runs.Records {
				starts[record.Start] = true
			}
			if len(runs.Records) != row.made || len(starts) != row.starts {
				t.Errorf("%d runs on %d starts, want %d on %d", len(runs.Records), len(starts), row.made, row.starts)
			}
		})
	}
}

// What a baseline takes at least is what a gate compares at least.
func TestTheLeastRunsOfABaseline(t *testing.T) {
	calmly(t)
	t.Setenv("OPENLOOP_UPDATE", "1")
	for runs, holds := range map[int]bool{stat.MinRuns - 1: false, stat.MinRuns: true} {
		t.Setenv("OPENLOOP_RUNS", fmt.Sprint(runs))
		if _, err := ci.Load(); (err == nil) != holds {
			t.Errorf("%d runs: %v", runs, err)
		}
	}
}

// That a run was set aside is no secret, whatever the verdict.
func TestRunsThatWereMadeAgainAreTold(t *testing.T) {
	runs := calm.runs(3)
	late := *runs.Records[1]
	late.Problems = []metric.Problem{{Kind: "client-limited", Text: "requests left 9ms late"}}
	runs.Replaced = []*metric.Record{&late}
	runs.Control = calm.runs(3)
	runs.Control.Replaced = []*metric.Record{&late}
	var r recorder
	expect(t, &r, assert.Valid(&r, runs), true, `log: valid: 3 runs
    made again run 2, whose first try is set aside: client-limited: requests left 9ms late
    made again control run 2, whose first try is set aside: client-limited: requests left 9ms late
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`)

	baseline(t)
	t.Setenv("OPENLOOP_UPDATE", "1")
	measured := measured(t, &toy{seed: 2}, small, "TestDecode")
	again := *measured.Records[0]
	again.Problems = late.Problems
	measured.Replaced = []*metric.Record{&again}
	for _, mode := range []string{"1", ""} {
		t.Setenv("OPENLOOP_UPDATE", mode)
		r = recorder{}
		assert.NoRegression(&r, measured, regressions.Gate{Gates: 1})
		if !strings.Contains(r.said(), "\n    made again run 1, whose first try is set aside: client-limited: requests left 9ms late\n") {
			t.Errorf("said\n%s", r.said())
		}
	}
}

// Each assertion tells it: where it passes, where it fails, and where the run
// that was made again cannot be trusted either.
func TestEachAssertionTellsOfRunsMadeAgain(t *testing.T) {
	const told = "\n    made again run 2, whose first try is set aside: client-limited: requests left 9ms late"
	late := metric.Problem{Kind: "client-limited", Text: "requests left 9ms late"}
	for name, ask := range every {
		if name == "NoRegression" || name == "NotSlower" { // tested above, and with its control
			continue
		}
		runs := calm.runs(3)
		first := *runs.Records[1]
		first.Problems = []metric.Problem{late}
		runs.Replaced = []*metric.Record{&first}
		var r recorder
		if !ask(&r, runs) || !strings.Contains(r.said(), told) {
			t.Errorf("%s passes with\n%s", name, r.said())
		}
		runs.Records[2].Problems = []metric.Problem{late}
		r = recorder{}
		if ask(&r, runs) || !strings.Contains(r.said(), told) {
			t.Errorf("%s fails with\n%s", name, r.said())
		}
	}
	runs := calm.runs(3)
	runs.Replaced = runs.Records[:1]
	var r recorder
	if assert.Latency(&r, runs, "p50-ttft-sec", time.Millisecond) || !strings.Contains(r.said(), "\n    made again run 1") {
		t.Errorf("a broken limit is told with\n%s", r.said())
	}
}
