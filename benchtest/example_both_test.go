package benchtest_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/engines/sim"
)

// builds are the embedded engine twice, the second with a decode that is so
// many times as slow.
func builds(slower float64) (control, candidate *sim.Model) {
	control, err := sim.NewModel(sim.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	candidate, err = sim.NewModel(sim.Config{Seed: 2, DecodeSlowdown: slower})
	if err != nil {
		log.Fatal(err)
	}
	return control, candidate
}

// In a test: the build to compare with beside the one in question. Package
// assert judges them, with NotSlower.
func ExampleMeasureBoth() {
	_ = func(t *testing.T) { // func TestNotSlowerThanRelease(t *testing.T)
		release, candidate := builds(1)
		control, runs := benchtest.MeasureBoth(t, release, candidate, quiet)
		t.Log(len(control.Records), len(runs.Records))
	}
}

// Run i of both arms does the same work, and both go on together.
func ExampleRunBoth() {
	old, new := builds(1.1)
	control, candidate, err := benchtest.RunBoth(context.Background(), old, new, quiet, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := candidate.Extend(context.Background(), 4); err != nil {
		log.Fatal(err)
	}
	for i, r := range candidate.Records {
		c := control.Records[i]
		first := c.Arm
		if r.Time.Before(c.Time) {
			first = r.Arm
		}
		a, err := c.Value("p50-tpot-sec")
		if err != nil {
			log.Fatal(err)
		}
		b, err := r.Value("p50-tpot-sec")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("pair %d, the %s first: same arrivals %t, starts %d and %d, slower %t\n", i, first, r.Seed == c.Seed, c.Start, r.Start, b > a)
	}
	// Output:
	// pair 0, the control first: same arrivals true, starts 0 and 0, slower true
	// pair 1, the candidate first: same arrivals true, starts 1 and 1, slower true
	// pair 2, the candidate first: same arrivals true, starts 2 and 2, slower true
	// pair 3, the control first: same arrivals true, starts 3 and 3, slower true
}
