package assert_test

import (
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/regressions"
)

// Built with -race, runs on a real clock are neither compared nor stored;
// otherwise they are, and here there is no baseline. Runs in virtual time are
// the same either way.
func TestWhatARaceBuildMeasuresIsNotGated(t *testing.T) {
	afresh(t)
	runs := calm.runs(3)
	for _, r := range runs.Records {
		r.Virtual = false
	}
	const notGated = `not gated: built with -race, which makes code several times slower, so nothing was compared and no baseline was written
    next       run it without -race to gate
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`
	var r recorder
	ok := assert.NoRegression(&r, runs, regressions.Gate{})
	if ci.Race {
		expect(t, &r, ok, true, "log: "+notGated)
	} else if ok || head(&r, 3) != "error: no baseline," {
		t.Errorf("returned %v and said\n%s", ok, r.said())
	}

	t.Setenv("OPENLOOP_UPDATE", "1")
	r = recorder{}
	ok = assert.NoRegression(&r, runs, regressions.Gate{})
	if ci.Race {
		expect(t, &r, ok, false, "error: "+notGated)
		if n := len(files(t)); n != 0 {
			t.Errorf("%d files were written", n)
		}
	} else if !ok || head(&r, 3) != "log: baseline created:" {
		t.Errorf("returned %v and said\n%s", ok, r.said())
	}
}
