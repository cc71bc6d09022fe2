package regressions_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// wobble is a fixed noise of standard deviation 1, whose first values are as
// spread as the others.
var wobble = []float64{-0.9, 0.1, 1.1, -1.4, 0.6, 0.8, -0.3, 1.2, -1.1, 0.4, -0.7, 0.2}

// shaped is an arm whose TPOT, TTFT and E2E vary by cv between runs, around
// the given factors of an 8B model's.
func shaped(n, starts int, cv, tpot, ttft float64) regressions.Arm {
	return arm(n, starts, func(i int) map[string]float64 {
		w := math.Exp(cv * wobble[i])
		a, b := 0.00578*tpot*w, 0.039*ttft*w
		return map[string]float64{
			"p50-tpot-sec": a, "p50-ttft-sec": b, "p50-e2e-sec": b + 255*a, "p95-itl-sec": 1.1 * a,
			"error-rate": 0, "mean-output-tokens": 256, "mean-prompt-tokens": 2048, "cached-share": 0,
		}
	})
}

// otherArrivals is the arm with seeds that are not the baseline's.
func otherArrivals(a regressions.Arm) regressions.Arm {
	for i := range a.Runs {
		a.Runs[i].Seed += 77
	}
	return a
}

func with(a regressions.Arm, name string, v func(i int) float64) regressions.Arm {
	for i, r := range a.Runs {
		r.Values[name] = v(i)
	}
	return a
}

// The text is the product: every kind of it, to the letter.
func TestText(t *testing.T) {
	base := stored(shaped(12, 2, 0.009, 1, 1))
	now := func(n int, cv, tpot, ttft float64) regressions.Arm { return latest(shaped(n, 1, cv, tpot, ttft)) }
	for _, row := range []struct {
		name string
		base *regressions.Baseline
		cand regressions.Arm
		gate regressions.Gate
		want regressions.Status
	}{
		{"pass", base, now(3, 0.008, 1.003, 1), regressions.Gate{}, regressions.Pass},
		{"pass, worse within the margin", base, now(8, 0.002, 1.02, 1.01), regressions.Gate{}, regressions.Pass},
		{"pass, identical runs in virtual time", virtual(stored(shaped(12, 2, 0, 1, 1))), virtual(stored(latest(shaped(3, 1, 0, 1, 1)))).Arm, regressions.Gate{}, regressions.Pass},
		{"regressed", base, now(3, 0.008, 1.112, 1.026), regressions.Gate{}, regressions.Regressed},
		{"regressed, paired", base, now(5, 0.008, 1.08, 1), regressions.Gate{Gates: 7}, regressions.Regressed},
		{"regressed, tail only", base, with(now(3, 0.008, 1.1, 1), "p95-itl-sec", func(i int) float64 { return 0.0127 }), regressions.Gate{}, regressions.Regressed},
		{"regressed, errors", base, with(now(3, 0.008, 0.9, 1), "error-rate", func(i int) float64 { return 0.04 }), regressions.Gate{}, regressions.Regressed},
		{"regressed, throughput", stored(rates(812, 815, 809, 813, 811)), rates(700, 702, 698), throughput, regressions.Regressed},
		{"improved", base, now(3, 0.008, 0.88, 0.95), regressions.Gate{}, regressions.Improved},
		{"inconclusive, another look", stored(shaped(12, 2, 0.04, 1, 1)), now(3, 0.04, 1.02, 1.02), regressions.Gate{}, regressions.Inconclusive},
		{"inconclusive at the last look", base, with(now(12, 0.03, 1.02, 1.02), "p50-tpot-sec", func(i int) float64 { return 0.0059 * math.Exp(0.07*wobble[11-i]) }), regressions.Gate{}, regressions.Inconclusive},
		{"inconclusive, may be slower", base, with(now(12, 0.03, 1.02, 1.02), "p50-tpot-sec", func(i int) float64 { return 0.0062 * math.Exp(0.09*wobble[11-i]) }), regressions.Gate{}, regressions.Inconclusive},
		{"inconclusive, hopeless", stored(shaped(12, 2, 0.08, 1, 1)), otherArrivals(now(3, 0.08, 1.01, 1.01)), regressions.Gate{}, regressions.Inconclusive},
		{"inconclusive, starts differ", startsApart(), otherArrivals(now(12, 0.008, 1.02, 1)), regressions.Gate{}, regressions.Inconclusive},
		{"invalid, workload changed", base, elsewhere(now(3, 0.008, 1, 1)), regressions.Gate{}, regressions.Invalid},
		{"invalid, other hardware", base, moved(now(3, 0.008, 1, 1)), regressions.Gate{}, regressions.Invalid},
		{"invalid, short outputs", base, with(now(3, 0.008, 1, 1), "mean-output-tokens", func(int) float64 { return 88 }), regressions.Gate{}, regressions.Invalid},
		{"invalid, suspicious", base, now(3, 0.008, 0.03, 1), regressions.Gate{}, regressions.Invalid},
		{"invalid, one run", base, now(1, 0.008, 1, 1), regressions.Gate{}, regressions.Invalid},
		{"invalid, no valid value", base, with(now(3, 0.008, 1, 1), "p50-tpot-sec", func(int) float64 { return math.NaN() }), regressions.Gate{}, regressions.Invalid},
		{"invalid, no baseline", nil, now(3, 0.008, 1, 1), regressions.Gate{}, regressions.Invalid},
	} {
		v := regressions.Judge(row.base, row.cand, row.gate)
		require.Equal(t, row.want, v.Status, "%s: %s", row.name, v.Text())
		golden(t, "verdicts/"+row.name, v.Text()+"\n")
	}
}

func TestTextOfCompare(t *testing.T) {
	old := stored(shaped(12, 2, 0.009, 1, 1))
	new := stored(latest(shaped(12, 2, 0.008, 1.07, 1)))
	new.Recorded, new.Commit = new.Recorded.AddDate(0, 0, 7), "8d31c0ffee"
	v := regressions.Compare(old, new, regressions.Gate{})
	require.Equal(t, regressions.Regressed, v.Status)
	golden(t, "verdicts/compare, regressed", v.Text()+"\n")

	noisy := stored(with(latest(shaped(12, 2, 0.03, 1.02, 1.02)), "p50-tpot-sec", func(i int) float64 { return 0.0059 * math.Exp(0.06*wobble[11-i]) }))
	noisy.Runs = noisy.Runs[:8]
	v = regressions.Compare(old, noisy, regressions.Gate{})
	require.Equal(t, regressions.Inconclusive, v.Status)
	assert.Equal(t, 0, v.NextLook, "no more runs can be made of a file")
	golden(t, "verdicts/compare, inconclusive", v.Text()+"\n")
}

func virtual(b *regressions.Baseline) *regressions.Baseline {
	b.Virtual = true
	return b
}

func startsApart() *regressions.Baseline {
	b := stored(shaped(12, 6, 0.009, 1, 1))
	for _, r := range b.Runs {
		r.Values["p50-tpot-sec"] *= math.Exp(0.05 * wobble[r.Start])
	}
	return b
}

func elsewhere(a regressions.Arm) regressions.Arm {
	a.Point = append([]metric.Pair(nil), point...)
	a.Point[0].Value, a.Point[2].Value = "chat(2048/512)", "600"
	a.PointHash = metric.Hash(a.Point)
	return a
}

func moved(a regressions.Arm) regressions.Arm {
	a.Key = []metric.Pair{{Key: "hardware", Value: "1x H100 NVL"}, {Key: "engine", Value: "vllm"}}
	return a
}

// golden compares with a file below testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", strings.NewReplacer(", ", "-", " ", "-").Replace(name)+".txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with -update")
	assert.Equal(t, string(want), got, path)
}
