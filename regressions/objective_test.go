package regressions_test

import (
	"path/filepath"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nearKnee are runs whose goodput hangs on their arrivals more than on the
// engine: the same in both arms, so that a loss shows beside it.
func nearKnee(n int, slo string, factor float64) regressions.Arm {
	luck := []float64{12.4, 11.2, 12.0, 12.3, 10.9, 11.8, 12.2, 11.5, 12.1, 11.9, 11.4, 12.0}
	a := with(shaped(n, 2, 0.009, 1, 1), "goodput-req/s", func(i int) float64 {
		return luck[i] * factor * (1 + 0.004*wobble[len(wobble)-1-i])
	})
	a.SLO = slo
	return a
}

const objectives = "TTFT ≤ 500ms, TPOT ≤ 40ms"

// Goodput is gated where the point has an SLO, by the margin's share of what
// the baseline had.
func TestGoodputIsGated(t *testing.T) {
	base := stored(nearKnee(12, objectives, 1))
	for _, row := range []struct {
		name   string
		factor float64
		want   regressions.Status
		says   string
	}{
		{"as before", 1, regressions.Pass, "goodput-req/s 0.0 % equal (pass)"},
		{"a tenth lost", 0.9, regressions.Regressed, "goodput-req/s −10.0 % (margin 5 %)"},
		{"a fiftieth lost", 0.98, regressions.Pass, "goodput-req/s −2.0 % worse (pass)"},
		{"a tenth gained", 1.1, regressions.Improved, "goodput-req/s +10.0 %"},
	} {
		v := regressions.Judge(base, nearKnee(12, objectives, row.factor), regressions.Gate{})
		assert.Equal(t, row.want, v.Status, row.name)
		assert.Contains(t, v.Text(), row.says, row.name)
		assert.Contains(t, v.Text(), "goodput-req/s 5 %", row.name)
	}
}

// What was counted by another SLO, or by none, is refused, or said not to be
// gated.
func TestGoodputOfAnotherSLO(t *testing.T) {
	named := regressions.Gate{Metrics: []regressions.Metric{{Name: "goodput-req/s"}}}
	for _, row := range []struct {
		name      string
		base, now regressions.Arm
		gate      regressions.Gate
		want      regressions.Status
		says      string
	}{
		{"a laxer objective", nearKnee(12, objectives, 1), nearKnee(12, "TTFT ≤ 2s", 1.01), regressions.Gate{}, regressions.Invalid,
			"the SLO changed, so that goodput-req/s does not compare: TTFT ≤ 500ms, TPOT ≤ 40ms in the baseline, TTFT ≤ 2s here"},
		{"none any more", nearKnee(12, objectives, 1), shaped(12, 2, 0.009, 1, 1), regressions.Gate{}, regressions.Invalid,
			"goodput-req/s vanished"},
		{"one for the first time", shaped(12, 2, 0.009, 1, 1), nearKnee(12, objectives, 1), regressions.Gate{}, regressions.Pass,
			"goodput-req/s is not gated: the baseline does not have it"},
		{"named, and not in the baseline", shaped(12, 2, 0.009, 1, 1), nearKnee(12, objectives, 1), named, regressions.Invalid,
			"goodput-req/s is gated, but in the baseline"},
		{"nothing was good", nearKnee(12, objectives, 0), nearKnee(12, objectives, 0), regressions.Gate{}, regressions.Invalid,
			"goodput is 0 req/s in the baseline: no request met the SLO (TTFT ≤ 500ms, TPOT ≤ 40ms), so there is none to lose"},
		{"by name alone", nearKnee(12, objectives, 1), nearKnee(12, objectives, 0.9), named, regressions.Regressed, "goodput-req/s −10.0 %"},
	} {
		v := regressions.Judge(stored(row.base), row.now, row.gate)
		assert.Equal(t, row.want, v.Status, row.name)
		assert.Contains(t, v.Text(), row.says, row.name)
	}
}

// The SLO is stored with the goodput that was counted by it.
func TestBaselineKeepsItsSLO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "knee.bench")
	require.NoError(t, regressions.WriteBaseline(path, stored(nearKnee(12, objectives, 1)), false))
	b, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	assert.Equal(t, objectives, b.SLO)
	assert.Equal(t, 12.4, b.Runs[0].Values["goodput-req/s"]/(1+0.004*wobble[11]))
}

// Goodput that doubles beyond chance is not believed, as a latency that halves
// is not.
func TestSuspiciousGoodput(t *testing.T) {
	v := regressions.Judge(stored(nearKnee(12, objectives, 0.4)), nearKnee(12, objectives, 0.9), regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Contains(t, v.Reason, "suspicious: goodput-req/s +125 % better is an improvement of more than 50 %")
}
