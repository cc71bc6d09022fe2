package regressions_test

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
)

// Two builds that were measured in turns, on a machine that is slow today.
func ExampleJudgeBoth() {
	control, candidate := exampleArm("a", 0.00641, 0.00649, 0.00638), exampleArm("b", 0.00643, 0.00650, 0.00641)
	control.Name, candidate.Name = metric.ArmControl, metric.ArmCandidate
	control.Identity = []metric.Pair{{Key: "engine-version", Value: "0.21.0"}}
	candidate.Identity = []metric.Pair{{Key: "engine-version", Value: "0.22.0"}}
	for i := range candidate.Runs {
		at := time.Date(2026, 11, 27, 9, 30, 0, 0, time.UTC).Add(time.Duration(i) * 10 * time.Minute)
		control.Runs[i].Time, candidate.Runs[i].Time = at, at.Add(5*time.Minute)
	}
	fmt.Println(regressions.JudgeBoth(control, candidate, regressions.Gate{}).Text())
	// Output:
	// pass: p50-tpot-sec +0.3 % worse (margin 5 %), 95 % interval −1.5 % … +2.2 %
	//     control    6.43ms ± 0.9 %   3 runs, 1 start
	//     candidate  6.45ms ± 0.7 %   3 runs, 1 start, same arrivals
	//     builds     engine-version "0.21.0" → "0.22.0"
	//     could see  3.5 % (MDE of these runs at the gate's level, power 80 %; significant from 2.7 % on); the gate calls 5.3 % or more regressed
	//     gated      p50-tpot-sec 5 %; false alarms 2.5 % a job, p ≤ 0.0077 a look
	//     design     in turns with the control, so that what the machine is today is in both; 3 runs of each with the same arrivals, unpaired (paired from 5 on); conditional on starts of the engines being alike, which is not measured (1 start of the control, 1 here: a start for each run measures it)
	//     at         poisson 4/s, chat(2048/256), 300 requests a run
	//     note       not counted in every run of both arms, so not checked: that outputs are as long as before, that the cache was no warmer
}

// A machine that is 10 % slower today than when the baseline was recorded: the
// frozen control beside both says so, and it is taken off.
func ExampleArm_Beside() {
	then, err := exampleArm("b", 0.00578, 0.00584, 0.00573, 0.00581, 0.00576, 0.00579).Beside(exampleArm("a", 0.00601, 0.00608, 0.00595, 0.00604, 0.00600, 0.00603))
	if err != nil {
		panic(err)
	}
	now, err := exampleArm("d", 0.00636, 0.00641, 0.00630).Beside(exampleArm("c", 0.00661, 0.00668, 0.00655))
	if err != nil {
		panic(err)
	}
	fmt.Println(regressions.Judge(&regressions.Baseline{Arm: then}, now, regressions.Gate{}).Text())
	// Output:
	// pass: p50-tpot-sec 0.0 % equal (margin 5 %), 95 % interval −0.2 % … +0.2 %
	//     baseline   5.78ms ± 0.7 %   6 runs, 1 start
	//     candidate  6.36ms ± 0.9 %   3 runs, 1 start, same arrivals
	//     control    6.02ms → 6.61ms since the baseline, +9.9 % worse: not the build's, and taken off
	//     could see  0.4 % (MDE of these runs at the gate's level, power 80 %; significant from 0.3 % on); the gate calls 5.1 % or more regressed
	//     gated      p50-tpot-sec 5 %; false alarms 2.5 % a job, p ≤ 0.0077 a look
	//     design     each run against the control's of the same index, so that what the machine is today is taken off; unpaired, checked against the 3 runs with the same arrivals (paired from 5 on); conditional on no drift between starts, which is not measured (the baseline has 1 start of 5 needed)
	//     at         poisson 4/s, chat(2048/256), 300 requests a run
	//     note       not counted in every run of both arms, so not checked: that outputs are as long as before, that the cache was no warmer
}
