package regressions_test

import (
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

// A noisy metric that is only watched does not stop a verdict, but a
// regression of it does; alone it is not merely watched.
func TestWatched(t *testing.T) {
	b, candidate := arms(5, quiet, quiet)
	noise := []float64{1.5, 0.7, 1.1, 0.8, 1.3, 1.0, 0.6, 1.4, 0.9, 1.2, 0.75, 1.25}
	shake := func(runs []regressions.Run, by float64, from int) {
		for i, r := range runs {
			r.Values["p50-ttft-sec"] = 0.039 * by * noise[(i*from)%len(noise)]
		}
	}
	shake(b.Runs, 1, 1)
	calm := candidate(12)
	shake(calm.Runs, 1, 5)
	v := regressions.Judge(b, calm, regressions.Gate{})
	assert.Equal(t, regressions.Pass, v.Status, v.Text())
	assert.Contains(t, v.Text(), "watched and undecided at this noise: p50-ttft-sec")

	shake(calm.Runs, 3, 5)
	v = regressions.Judge(b, calm, regressions.Gate{})
	assert.Equal(t, regressions.Regressed, v.Status, v.Text())
	assert.Contains(t, v.Reason, "p50-ttft-sec")

	shake(calm.Runs, 1, 5)
	for _, arm := range []regressions.Arm{b.Arm, calm} {
		for _, r := range arm.Runs {
			delete(r.Values, "p50-tpot-sec")
			delete(r.Values, "p50-e2e-sec")
		}
	}
	v = regressions.Judge(b, calm, regressions.Gate{})
	assert.Equal(t, regressions.Inconclusive, v.Status, v.Text())
}

// A tail is the luck of its arrivals more than anything else: three runs whose
// arrivals were unlucky in the baseline too have not moved.
func TestTailsAreHeldAgainstTheSameArrivals(t *testing.T) {
	b, candidate := arms(7, quiet, quiet)
	unlucky := func(a regressions.Arm, by float64) regressions.Arm {
		for i, r := range a.Runs {
			r.Values["p99-itl-sec"] = 0.020 * by
			if i < 3 {
				r.Values["p99-itl-sec"] *= 1.3 + 0.01*float64(i)
			}
		}
		return a
	}
	unlucky(b.Arm, 1)
	v := regressions.Judge(b, unlucky(candidate(3), 1), regressions.Gate{})
	assert.NotContains(t, v.Text(), "p99-itl-sec")
	v = regressions.Judge(b, unlucky(candidate(3), 1.5), regressions.Gate{})
	assert.Contains(t, v.Text(), "p99-itl-sec +")
	assert.Equal(t, regressions.Pass, v.Status, "it is told, and decides nothing")
}
