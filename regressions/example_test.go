package regressions_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
)

// exampleArm is an arm of runs with these times per output token.
func exampleArm(start string, tpot ...float64) regressions.Arm {
	arm := regressions.Arm{
		Test: "TestDecode", PointName: "poisson-4", Schema: metric.Schema, PointHash: "80c0309522ad",
		Point: []metric.Pair{{Key: "workload", Value: "chat(2048/256)"}, {Key: "arrivals", Value: "poisson 4/s"}, {Key: "requests", Value: "300"}},
		Key:   []metric.Pair{{Key: "hardware", Value: "1x H100 SXM 80GB"}},
	}
	for i, v := range tpot {
		arm.Runs = append(arm.Runs, regressions.Run{
			Index: i, Seed: uint64(100 + i), StartID: start,
			Values: map[string]float64{"p50-tpot-sec": v}, Missing: map[string]string{},
		})
	}
	return arm
}

// A decode that became 11 % slower, after three runs.
func ExampleJudge() {
	base := &regressions.Baseline{
		Arm:      exampleArm("monday", 0.00578, 0.00584, 0.00573, 0.00581, 0.00576, 0.00579),
		Recorded: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC), Commit: "3f2c9a1",
	}
	candidate := exampleArm("tuesday", 0.00641, 0.00649, 0.00638)
	v := regressions.Judge(base, candidate, regressions.Gate{Margin: 0.05})
	fmt.Println(v.Text())
	fmt.Println("green:", v.Status.Green(), "next look:", v.NextLook)
	// Output:
	// regressed: p50-tpot-sec +11.1 % (margin 5 %), 95 % interval +9.7 % … +12.5 %
	//     baseline   5.78ms ± 0.7 %   6 runs, 1 start, 2026-11-20, commit 3f2c9a1
	//     candidate  6.43ms ± 0.9 %   3 runs, 1 start, same arrivals
	//     could see  2.2 % (MDE of these runs at the gate's level, power 80 %; significant from 1.7 % on); the gate calls 5.3 % or more regressed
	//     gated      p50-tpot-sec 5 %; false alarms 2.5 % a job, p ≤ 0.0077 a look
	//     design     unpaired, checked against the 3 runs with the same arrivals (paired from 5 on); conditional on no drift between starts, which is not measured (the baseline has 1 start of 5 needed)
	//     at         poisson 4/s, chat(2048/256), 300 requests a run
	//     note       stopped at 3 of at most 12 runs: an estimate after an early stop leans away from zero
	//     next       measure the old build in turns with this one (benchtest.MeasureBoth), which rules the machine out; if the change is meant, accept it: OPENLOOP_UPDATE=1 go test -count=1 -run '^TestDecode$' .
	// green: false next look: 0
}

// What is found of each metric, for a report.
func ExampleVerdict() {
	base := &regressions.Baseline{Arm: exampleArm("monday", 0.00578, 0.00584, 0.00573, 0.00581, 0.00576, 0.00579)}
	v := regressions.Judge(base, exampleArm("tuesday", 0.00575, 0.00585, 0.00577), regressions.Gate{})
	for _, f := range v.Findings {
		fmt.Printf("%s (%s, margin %.0f %%): %s, %+.1f %% in %+.1f … %+.1f, of %d runs at ± %.1f %%\n",
			f.Metric, f.Role, 100*f.Margin, f.Status, 100*f.Change, 100*f.Low, 100*f.High, f.Candidate.Runs, 100*f.Candidate.SD)
	}
	// Output: p50-tpot-sec (gated, margin 5 %): pass, +0.1 % in -1.1 … +1.3, of 3 runs at ± 0.9 %
}

// A look at noisy runs asks for more of them.
func ExampleVerdict_nextLook() {
	base := &regressions.Baseline{Arm: exampleArm("monday", 0.0057, 0.0061, 0.0054, 0.0060, 0.0055, 0.0058)}
	v := regressions.Judge(base, exampleArm("tuesday", 0.0059, 0.0063, 0.0055), regressions.Gate{})
	fmt.Println(v.Status, v.NextLook)
	fmt.Println(v.Reason)
	fmt.Println(v.Remedy)
	// Output:
	// inconclusive 5
	// p50-tpot-sec +2.5 % worse (margin 5 %), 95 % interval −6.3 % … +12.3 %
	// the next look is at 5 runs, and those are paired by their arrivals
}

// Two files against each other, as openloop compare does it.
func ExampleCompare() {
	old := &regressions.Baseline{Arm: exampleArm("monday", 0.00578, 0.00584, 0.00573, 0.00581, 0.00576, 0.00579)}
	now := &regressions.Baseline{Arm: exampleArm("tuesday", 0.00520, 0.00527, 0.00515, 0.00522, 0.00518, 0.00522)}
	fmt.Println(regressions.Compare(old, now, regressions.Gate{}).Reason)
	// Output: p50-tpot-sec −10.0 % (margin 5 %), 95 % interval −10.2 % … −9.8 %
}

// A gate of one metric at two margins, in a job of ten points.
func ExampleGate() {
	gate := regressions.Gate{
		Metrics: []regressions.Metric{
			{Name: "p50-tpot-sec", Margin: 0.03},
			{Name: "p95-ttft-sec", Margin: 0.20, Watch: true},
		},
		FalseAlarms: 0.05,
		Gates:       10,
	}
	fmt.Println(gate.Validate())
	fmt.Println("defaults:", regressions.DefaultMargin, regressions.DefaultFalseAlarms)
	// Output:
	// <nil>
	// defaults: 0.05 0.025
}

func ExampleGate_Validate() {
	fmt.Println(regressions.Gate{Margin: 5, Looks: []int{2}}.Validate())
	// Output:
	// regressions: Gate.Margin must be from 0 (the default, 0.05) to 1, got 5
	// regressions: Gate.Looks: the first is at 2 runs, need at least 3
}

func ExampleBaselinePath() {
	key := []metric.Pair{{Key: "hardware", Value: "1x H100 SXM 80GB"}}
	fmt.Println(filepath.ToSlash(regressions.BaselinePath("testdata/openloop", "TestDecode/quiet", "poisson-4", key)))
	// Output: testdata/openloop/TestDecode/quiet/poisson-4@4ff3af10.bench
}

// Creating and replacing a baseline are different words, and so is adding the
// runs of another start to it.
func ExampleWriteBaseline() {
	dir, err := os.MkdirTemp("", "openloop")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "b.bench")
	monday := &regressions.Baseline{Arm: exampleArm("monday", 0.00578, 0.00584, 0.00573)}
	fmt.Println(regressions.WriteBaseline(path, monday, false))
	err = regressions.WriteBaseline(path, monday, false)
	fmt.Println(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	fmt.Println(regressions.WriteBaseline(path, monday, true))
	b, err := regressions.ReadBaseline(path)
	fmt.Println(len(b.Runs), err)
	// Output:
	// <nil>
	// regressions: b.bench exists: to replace it, overwrite it or append to it explicitly
	// <nil>
	// 3 <nil>
}

func ExampleAppendStart() {
	dir, err := os.MkdirTemp("", "openloop")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "b.bench")
	monday := &regressions.Baseline{Arm: exampleArm("monday", 0.00578, 0.00584, 0.00573)}
	tuesday := &regressions.Baseline{Arm: exampleArm("tuesday", 0.00580, 0.00582, 0.00571)}
	fmt.Println(regressions.WriteBaseline(path, monday, false), regressions.AppendStart(path, tuesday))
	b, err := regressions.ReadBaseline(path)
	if err != nil {
		panic(err)
	}
	for _, r := range b.Runs[2:4] {
		fmt.Println("run", r.Index, "of start", r.Start, r.StartID)
	}
	// Output:
	// <nil> <nil>
	// run 2 of start 0 monday
	// run 0 of start 1 tuesday
}

// No baseline is an error that says how to record one.
func ExampleReadBaseline() {
	_, err := regressions.ReadBaseline("testdata/openloop/TestNew/poisson-4@a6f42a16.bench")
	fmt.Println(errors.Is(err, regressions.ErrNoBaseline))
	fmt.Println(err)
	// Output:
	// true
	// regressions: no baseline at testdata/openloop/TestNew/poisson-4@a6f42a16.bench: record one with OPENLOOP_UPDATE=1 go test -count=1 -run '^TestNew$' .
}

func ExampleFromRecords() {
	run := &metric.Record{
		Schema: metric.Schema, PointName: "serial", PointHash: "80c0309522ad", StartID: "monday",
		From: time.Second, To: 10 * time.Second,
		Requests: []metric.Timeline{{
			Phase: metric.Window, Scheduled: 2 * time.Second, FirstToken: 2040 * time.Millisecond, LastToken: 2600 * time.Millisecond,
			OutputTokens: 101, FirstTokens: 1, PromptTokens: 512, CachedTokens: 0,
		}},
	}
	arm, err := regressions.FromRecords([]*metric.Record{run}, []string{"mean-tpot-sec", "p99-tpot-sec"})
	if err != nil {
		panic(err)
	}
	fmt.Println(arm.Runs[0].Values)
	fmt.Println(arm.Runs[0].Missing)
	// Output:
	// map[mean-tpot-sec:0.0056]
	// map[p99-tpot-sec:p99 of 1 values is their maximum: needs 1,000]
}

func ExampleCountBaselines() {
	dir, err := os.MkdirTemp("", "openloop")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o666); err != nil {
		panic(err)
	}
	b := &regressions.Baseline{Arm: exampleArm("monday", 0.00578, 0.00584, 0.00573)}
	path := regressions.BaselinePath(filepath.Join(dir, "testdata", "openloop"), b.Test, b.PointName, b.Key)
	if err := regressions.WriteBaseline(path, b, false); err != nil {
		panic(err)
	}
	fmt.Println(regressions.CountBaselines(dir))
	// Output: 1 <nil>
}
