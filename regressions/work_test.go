package regressions_test

import (
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

// A server that stopped counting tokens, and gives a fifth less of them, is as
// fast as before end to end when it decodes a fifth slower.
func TestLengthsThatVanishedCompareNothing(t *testing.T) {
	e2e := regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-e2e-sec"}}}
	for _, name := range []string{"mean-output-tokens", "mean-prompt-tokens"} {
		b, candidate := arms(1, quiet, quiet)
		a := candidate(3)
		for _, r := range a.Runs {
			delete(r.Values, name)
			r.Missing[name] = "100 requests have no count of tokens from the server"
		}
		v := regressions.Judge(b, a, e2e)
		assert.Equal(t, regressions.Invalid, v.Status)
		assert.Equal(t, name+" vanished: the baseline has it, here run 0 has no "+name+": 100 requests have no count of tokens from the server", v.Reason)
	}
}

// One run without a count does not switch the guard off for the others.
func TestLengthsOfTheRunsThatHaveThem(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	a := candidate(3)
	delete(a.Runs[1].Values, "mean-output-tokens")
	assert.Equal(t, regressions.Pass, regressions.Judge(b, a, regressions.Gate{}).Status)
	for _, r := range []regressions.Run{a.Runs[0], a.Runs[2]} {
		r.Values["mean-output-tokens"] = 205
	}
	v := regressions.Judge(b, a, regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, "workload changed: mean output 256 → 205 tokens, −19.9 % (short output), more than 2 % apart", v.Reason)
}

// Where neither arm has lengths a verdict is still possible, and says what it
// rests on.
func TestLengthsThatNobodyCounted(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	a := candidate(3)
	assert.NotContains(t, regressions.Judge(b, a, regressions.Gate{}).Text(), "not counted")
	for _, r := range append(b.Runs, a.Runs...) {
		delete(r.Values, "mean-output-tokens")
	}
	v := regressions.Judge(b, a, regressions.Gate{})
	assert.Equal(t, regressions.Pass, v.Status)
	assert.Contains(t, v.Text(), "not counted in every run of both arms, so not checked: that outputs are as long as before")
}
