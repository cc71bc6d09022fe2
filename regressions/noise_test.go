package regressions_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sd is the standard deviation of logarithms, written out.
func sd(xs ...float64) float64 {
	var sum, ss float64
	for _, x := range xs {
		sum += math.Log(x) / float64(len(xs))
	}
	for _, x := range xs {
		ss += (math.Log(x) - sum) * (math.Log(x) - sum)
	}
	return math.Sqrt(ss / float64(len(xs)-1))
}

func TestNoise(t *testing.T) {
	tpot := []float64{5.7, 5.8, 5.9, 5.75, 5.85, 5.95}
	for _, row := range []struct {
		name    string
		starts  int
		between float64
		byStart bool
	}{
		{"one start says nothing of starts", 1, 0, false},
		{"two starts neither", 2, 0, false},
		{"three starts: known, not yet the unit", 3, sd(math.Sqrt(5.7*5.8), math.Sqrt(5.9*5.75), math.Sqrt(5.85*5.95)), false},
		{"six starts: the unit", 6, sd(tpot...), true},
	} {
		a := arm(6, row.starts, func(i int) map[string]float64 {
			return map[string]float64{"p50-tpot-sec": tpot[i], "error-rate": 0}
		})
		all, err := regressions.Gate{}.Noise(stored(a))
		require.NoError(t, err, row.name)
		require.Len(t, all, 2, "the error rate is guarded, and counts among the comparisons")
		n := all[0]
		assert.Equal(t, []any{"p50-tpot-sec", regressions.Gated, 0.05, 6, row.starts, row.byStart},
			[]any{n.Metric, n.Role, n.Margin, n.Runs, n.Starts, n.ByStart()}, row.name)
		assert.InDelta(t, sd(tpot...), n.SD, 1e-12, row.name)
		assert.InDelta(t, row.between, n.Between, 1e-12, row.name)
		assert.Equal(t, regressions.Guard, all[1].Role)
		assert.Equal(t, 0.001, all[1].SD, "identical shares have the floor's deviation")
	}
}

// The default set: TTFT watched, with twice the margin.
func TestNoiseOfTheDefaultSet(t *testing.T) {
	all, err := regressions.Gate{Margin: 0.04}.Noise(stored(shaped(12, 2, 0.01, 1, 1)))
	require.NoError(t, err)
	var got []string
	for _, n := range all {
		got = append(got, fmt.Sprintf("%s %s %.3f", n.Metric, n.Role, n.Margin))
	}
	assert.Equal(t, []string{"p50-tpot-sec gated 0.040", "p50-e2e-sec gated 0.040", "p50-ttft-sec watched 0.080", "error-rate guard 0.005"}, got)
}

// A change on the metric's scale, on that of the test, and back.
func TestNoiseScales(t *testing.T) {
	both := arm(3, 1, func(i int) map[string]float64 {
		return map[string]float64{"p50-tpot-sec": 0.005 + 0.0001*float64(i), "output-tok/s": 100 + float64(i), "error-rate": 0.01 * float64(i)}
	})
	all, err := regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-tpot-sec"}, {Name: "output-tok/s"}, {Name: "error-rate"}}}.Noise(stored(both))
	require.NoError(t, err)
	for i, want := range []float64{math.Log(1.05), -math.Log(0.95), 0.05} {
		assert.InDelta(t, want, all[i].OnTest(0.05), 1e-15, all[i].Metric)
		assert.InDelta(t, 0.05, all[i].Size(all[i].OnTest(0.05)), 1e-15, all[i].Metric)
	}
	assert.InDelta(t, math.Log(1.05), regressions.Noise{}.OnTest(0.05), 1e-15, "unnamed: a ratio, lower is better")
	assert.InDelta(t, 0.05, regressions.Noise{}.Size(math.Log(1.05)), 1e-15)
}

func TestNoiseRefuses(t *testing.T) {
	few := stored(shaped(2, 1, 0.01, 1, 1))
	broken := stored(only("p50-tpot-sec", 0.005, math.NaN(), 0.005))
	problem := stored(shaped(12, 2, 0.01, 1, 1))
	problem.Problems = []string{"run 3 is invalid (errors): 4 % failed"}
	for _, row := range []struct {
		base *regressions.Baseline
		gate regressions.Gate
		want string
	}{
		{nil, regressions.Gate{}, "regressions: there is no baseline"},
		{&regressions.Baseline{}, regressions.Gate{}, "regressions: there is no baseline to compare with"},
		{few, regressions.Gate{}, "regressions: the baseline has 2 runs, at least 3 are needed"},
		{broken, regressions.Gate{}, "regressions: in the baseline run 1 has no valid p50-tpot-sec: it is NaN"},
		{problem, regressions.Gate{}, "run 3 is invalid"},
		{stored(shaped(12, 2, 0.01, 1, 1)), regressions.Gate{Metrics: []regressions.Metric{{Name: "p99-ttft-sec"}}}, "p99-ttft-sec is gated, but run 0 has no p99-ttft-sec"},
		{stored(shaped(12, 2, 0.01, 1, 1)), regressions.Gate{Margin: 7}, "Gate.Margin must be from 0"},
	} {
		_, err := row.gate.Noise(row.base)
		assert.ErrorContains(t, err, row.want)
	}
}

func TestGateLevels(t *testing.T) {
	worse, same, err := regressions.Gate{}.Levels(1)
	require.NoError(t, err)
	assert.Equal(t, []float64{0.0077, 0.0166}, []float64{worse, same})
	worse, same, err = regressions.Gate{}.Levels(10)
	require.NoError(t, err)
	assert.Equal(t, []float64{0.00068, 0.0166}, []float64{worse, same}, "passing needs no correction")
	_, _, err = regressions.Gate{}.Levels(0)
	assert.EqualError(t, err, "regressions: comparisons must be positive, got 0")
	_, _, err = regressions.Gate{Looks: []int{2}}.Levels(1)
	assert.ErrorContains(t, err, "Gate.Looks")
}

func ExampleGate_Noise() {
	base := &regressions.Baseline{Arm: exampleArm("monday", 0.00578, 0.00584, 0.00573, 0.00581, 0.00576, 0.00579)}
	noise, err := regressions.Gate{}.Noise(base)
	for _, n := range noise {
		fmt.Printf("%s: CV %.1f %% of %d runs, margin %.0f %% is %.4f in logarithms\n", n.Metric, 100*n.SD, n.Runs, 100*n.Margin, n.OnTest(n.Margin))
	}
	fmt.Println(err)
	// Output:
	// p50-tpot-sec: CV 0.7 % of 6 runs, margin 5 % is 0.0488 in logarithms
	// <nil>
}

func ExampleGate_Levels() {
	worse, same, err := regressions.Gate{}.Levels(4)
	fmt.Printf("p ≤ %.4f for regressed, p ≤ %.4f for pass %v\n", worse, same, err)
	// Output: p ≤ 0.0018 for regressed, p ≤ 0.0166 for pass <nil>
}
