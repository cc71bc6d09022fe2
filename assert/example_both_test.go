package assert_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/regressions"
)

// chat is a load of about a third of what the embedded engine can do.
var chat = benchtest.Point{
	Workload: fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)},
	Arrivals: arrival.Poisson{Rate: 4}, Requests: 300,
}

// build is the embedded engine on a machine that is so many times as slow.
func build(seed uint64, machine float64) *sim.Model {
	m, err := sim.NewModel(sim.Config{Seed: seed, DecodeSlowdown: machine, PrefillSlowdown: machine})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

// both measures two builds in turns on a machine that is so many times as
// slow; in a test it is benchtest.MeasureBoth.
func both(machine float64, control, candidate uint64) (old, now *benchtest.Runs) {
	old, now, err := benchtest.RunBoth(context.Background(), build(control, machine), build(candidate, machine), chat, benchtest.Options{Test: "TestChat"})
	if err != nil {
		log.Fatal(err)
	}
	return old, now
}

// Two builds of the same speed on a machine that is 10 % slower today than it
// was. What was stored on another day would call the candidate regressed; the
// control was measured in turns with it, on the machine as it is.
func ExampleNotSlower() {
	control, candidate := both(1.10, 1, 2) // from benchtest.MeasureBoth
	assert.NotSlower(t, candidate, control, regressions.Gate{Gates: 1})
	// Output:
	// pass: p50-tpot-sec +0.4 % worse (margin 5 %), 95 % interval −2.2 % … +3.2 %
	//     control    6.57ms ± 2.6 %   5 runs, 5 starts, virtual time
	//     candidate  6.60ms ± 2.5 %   5 runs, 5 starts, same arrivals
	//     builds     alike in all that is recorded of them
	//     could see  9.5 % (MDE of these runs at the gate's level, power 80 %; significant from 7.6 % on); the gate calls 5.6 % or more regressed
	//     also       p50-e2e-sec +0.4 % worse (pass) · p50-ttft-sec +0.7 % worse (pass) · p95-tpot-sec −0.1 % better (pass) · p95-ttft-sec +1.7 % worse (pass) · max-ttft-sec +0.1 % worse (pass) · max-itl-sec −6.0 % better (pass) · error rate 0
	//     gated      p50-tpot-sec 5 % · p50-e2e-sec 5 % · error rate 0.5 points; false alarms 2.5 % a job over 8 comparisons, p ≤ 0.00086 a look
	//     watched    p50-ttft-sec 10 % · p95-tpot-sec 10 % · p95-ttft-sec 20 % · max-ttft-sec 100 % · max-itl-sec 100 %
	//     design     in turns with the control, so that what the machine is today is in both; 5 pairs of runs with the same arrivals, each on an engine start of its own
	//     at         poisson 4/s, lengths 2048/256, 300 requests a run
}

// A frozen control beside every run: a baseline is recorded with the control's
// runs, and on another day each run is judged against its own.
func ExampleNoRegression_control() {
	dir, err := os.MkdirTemp("", "openloop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	here, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	defer os.Chdir(here)

	const frozen, then, now = 1, 2, 3 // builds
	_, runs := both(1, frozen, then)
	if err := record(runs); err != nil { // what go test -openloop.update does
		log.Fatal(err)
	}

	_, runs = both(1.10, frozen, now) // the machine is 10 % slower today
	assert.NoRegression(briefly{}, runs, regressions.Gate{Gates: 1})
	runs.Control = nil // what a stored baseline alone would say
	assert.NoRegression(briefly{}, runs, regressions.Gate{Gates: 1})
	// Output:
	// pass: p50-tpot-sec +1.1 % worse (margin 5 %), 95 % interval −1.6 % … +3.9 %
	//     control    5.80ms → 6.59ms since the baseline, +13.7 % worse: not the build's, and taken off
	// regressed: p50-e2e-sec +15.2 % (margin 5 %), 95 % interval +12.4 % … +18.1 %
}

// record stores twelve runs beside as many of their control.
func record(runs *benchtest.Runs) error {
	if err := runs.Extend(context.Background(), 12); err != nil {
		return err
	}
	arm, err := regressions.FromRecords(runs.Records, nil)
	if err != nil {
		return err
	}
	control, err := regressions.FromRecords(runs.Control.Records, nil)
	if err != nil {
		return err
	}
	if arm, err = arm.Beside(control); err != nil {
		return err
	}
	path := regressions.BaselinePath("testdata/openloop", arm.Test, arm.PointName, arm.Key)
	return regressions.WriteBaseline(path, &regressions.Baseline{Arm: arm}, false)
}

// briefly is a t that prints what was found, and what the control did.
type briefly struct{}

func (b briefly) Errorf(format string, args ...any) { b.Logf(format, args...) }

func (briefly) Logf(format string, args ...any) {
	for i, line := range strings.Split(fmt.Sprintf(format, args...), "\n") {
		if i == 0 || strings.HasPrefix(line, "    control ") {
			fmt.Println(line)
		}
	}
}
