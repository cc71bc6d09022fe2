package assert_test

import "testing"

// A requirement says what its assertion says, and then stops the test.
func TestRequirementsSayTheSameAndStop(t *testing.T) {
	if len(everyRequirement) != len(every) {
		t.Fatalf("%d requirements for %d assertions", len(everyRequirement), len(every))
	}
	for name, need := range everyRequirement {
		t.Run(name, func(t *testing.T) {
			var asserted, required recorder
			ok := every[name](&asserted, spoiled(), "m")
			need(&required, spoiled(), "m")
			if ok || asserted.stopped != 0 {
				t.Errorf("the assertion returned %v and stopped the test %d times", ok, asserted.stopped)
			}
			if required.said() != asserted.said() {
				t.Errorf("said\n%s\nwant\n%s", required.said(), asserted.said())
			}
			if required.stopped != 1 || required.helped == 0 {
				t.Errorf("stopped the test %d times, called Helper %d times; want once and at least once", required.stopped, required.helped)
			}
		})
	}
}

func TestARequirementThatHoldsGoesOn(t *testing.T) {
	for _, name := range []string{"Valid", "Sustained", "Goodput", "Attainment", "Latency"} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			everyRequirement[name](&r, calm.runs(3))
			if len(r.errors) > 0 || r.stopped != 0 || len(r.logs) != 1 {
				t.Errorf("stopped %d times, said\n%s", r.stopped, r.said())
			}
		})
	}
}
