package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plan runs the verb with -json; it must not print to stderr.
func plan(t *testing.T, args ...string) (forecast, int) {
	t.Helper()
	var out, errs bytes.Buffer
	status := planVerb(append(args, "-json"), &out, &errs)
	require.Empty(t, errs.String(), "%v", args)
	var f forecast
	require.NoError(t, json.Unmarshal(out.Bytes(), &f), "%v: %s", args, out.String())
	return f, status
}

// resolvable makes a plan whose chances do not matter.
func resolvable(t *testing.T, args ...string) (*forecast, bool) {
	t.Helper()
	o := planOptions{paths: 1}
	require.NoError(t, planFlags(&o).Parse(args), "%v", args)
	f, err := o.plan()
	require.NoError(t, err, "%v", args)
	return f, f.Resolvable
}

// The numbers of the tables that the plan is made of: the two-sided MDE of n
// runs an arm, in CVs and at this CV; the smallest margin of each look, in CVs;
// and what becomes of unchanged engines and of those 10 % slower.
func TestPlanGivesTheTables(t *testing.T) {
	type look struct{ mdeInCV, mde, marginInCV string }
	for _, row := range []struct {
		args                         []string
		status                       int
		looks                        []look
		pass, regressed, runs        float64
		caught, runsToCatch, largest float64
	}{
		{[]string{"-cv", "2%", "-margin", "5%"}, 0,
			[]look{{"3.07", "6.14", "3.37"}, {"2.02", "4.05", "2.19"}, {"1.51", "3.01", "1.61"}, {"1.20", "2.39", "1.28"}},
			0.999, 0, 4.4, 1, 3.3, 0.038},
		{[]string{"-cv", "5%", "-margin", "5%"}, 1,
			[]look{{"3.07", "15.35", "3.37"}, {"2.02", "10.12", "2.19"}, {"1.51", "7.53", "1.61"}, {"1.20", "5.98", "1.28"}},
			0.617, 0.019, 9.2, 0.975, 6.6, 0.038},
		{[]string{"-cv", "5%", "-margin", "5%", "-stored", "10"}, 1,
			[]look{{"2.03", "10.13", "2.18"}, {"1.66", "8.30", "1.78"}, {"", "", "1.52"}, {"", "", "1.35"}},
			0.579, 0.017, 8.6, 0.963, 5.1, 0.036},
	} {
		f, status := plan(t, row.args...)
		m := f.Metrics[0]
		assert.Equal(t, row.status, status, "%v", row.args)
		assert.Equal(t, row.status == 0, f.Resolvable, "%v", row.args)
		for i, want := range row.looks {
			if want.mde != "" {
				assert.Equal(t, want.mdeInCV, fmt.Sprintf("%.2f", m.Looks[i].MDE5InCV), "%v", row.args)
				assert.Equal(t, want.mde, fmt.Sprintf("%.2f", 100*m.Looks[i].MDE5), "%v", row.args)
			}
			assert.Equal(t, want.marginInCV, fmt.Sprintf("%.2f", m.Looks[i].MarginInCV), "%v", row.args)
		}
		// Three standard errors of 40,000 paths are below these.
		assert.InDelta(t, row.pass, float64(m.Unchanged.Pass), 0.008, "%v", row.args)
		assert.InDelta(t, row.regressed, float64(m.Unchanged.Regressed), 0.003, "%v", row.args)
		assert.InDelta(t, row.caught, float64(m.Slower.Regressed), 0.005, "%v", row.args)
		assert.InDelta(t, row.runs, float64(m.Unchanged.Runs), 0.1, "%v", row.args)
		assert.InDelta(t, row.runsToCatch, float64(m.Slower.Runs), 0.1, "%v", row.args)
		assert.InDelta(t, row.largest, float64(m.LargestCV), 0.0006, "%v", row.args)
	}
}

// What is said to do does, by itself, as it is printed; a bit less of it does
// not.
func TestPlanRemediesHold(t *testing.T) {
	for _, args := range [][]string{
		{"-cv", "5%"}, {"-cv", "7.3%"}, {"-cv", "2%", "-margin", "1%"}, {"-cv", "3%", "-stored", "3"}, {"-cv", "4%", "-stored", "5"},
		{"-cv", "5%", "-power", "95%"}, {"-cv", "12%", "-gates", "8", "-looks", "3,6"}, {"-cv", "0.4%", "-margin", "0.2%"},
	} {
		f, ok := resolvable(t, args...)
		require.False(t, ok, "%v", args)
		r := f.Metrics[0].Remedy
		with := func(flag string, value number) bool {
			_, ok := resolvable(t, slices.Concat(args, []string{flag, strconv.FormatFloat(float64(value), 'f', 5, 64)})...)
			return ok
		}
		step := number(1.1 / rounding(float64(r.Margin)))
		assert.True(t, with("-margin", r.Margin), "%v: margin %v", args, r.Margin)
		assert.False(t, with("-margin", r.Margin-step), "%v: less than margin %v", args, r.Margin)
		step = number(1.1 / rounding(float64(r.CV)))
		assert.True(t, with("-cv", r.CV), "%v: CV %v", args, r.CV)
		assert.False(t, with("-cv", r.CV+step), "%v: more than CV %v", args, r.CV)
		more := slices.Concat(args, []string{"-looks", list(r.Looks)})
		if f.Design == "stored" {
			more = append(more, "-stored", strconv.Itoa(r.Baseline))
		}
		_, ok = resolvable(t, more...)
		assert.True(t, ok, "%v: looks %v, baseline %d", args, r.Looks, r.Baseline)
	}
}

func TestPlanCountsEngineMinutes(t *testing.T) {
	f, _ := plan(t, "-cv", "2%", "-minutes-per-run", "1.5")
	assert.Equal(t, number(36), f.Metrics[0].Looks[3].Minutes, "12 runs of two builds")
	assert.InDelta(t, 3*float64(f.Metrics[0].Unchanged.Runs), float64(f.Metrics[0].Unchanged.Minutes), 1e-9)
	f, _ = plan(t, "-cv", "2%", "-minutes-per-run", "1.5", "-stored", "12")
	assert.Equal(t, number(18), f.Metrics[0].Looks[3].Minutes, "the stored ones are there")
	f, _ = plan(t, "-cv", "2%")
	assert.Zero(t, f.Metrics[0].Looks[3].Minutes)
}

// However strange what is asked for, the JSON has only numbers, and a plan
// without one is not resolvable.
func TestPlanOfExtremes(t *testing.T) {
	for _, args := range [][]string{
		{"-cv", "99.9%", "-gates", "10000", "-power", "99.89%"},
		{"-cv", "99.9%", "-margin", "99.9%"},
		{"-cv", "0.0001%", "-margin", "99%"},
		{"-cv", "50%", "-margin", "0.0001%", "-false-alarms", "0.0001%"},
		{"-cv", "2%", "-stored", "2000", "-looks", "3,150"},
		{"-cv", "2%", "-looks", "3"},
	} {
		var out, errs bytes.Buffer
		status := planVerb(append(args, "-json"), &out, &errs)
		assert.Contains(t, []int{exitOK, exitNegative}, status, "%v: %s", args, errs.String())
		assert.True(t, json.Valid(out.Bytes()), "%v", args)
		out.Reset()
		assert.Equal(t, status, planVerb(args, &out, &errs), "%v", args)
		for _, bad := range []string{"NaN", "Inf", "%!"} {
			assert.NotContains(t, out.String(), bad, "%v", args)
		}
	}
	for value, want := range map[float64]string{math.NaN(): "null", math.Inf(1): "null", 0.5: "0.5"} {
		got, err := json.Marshal(number(value))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

// The metrics of a baseline share the false alarms; what is only watched need
// not be resolvable; and higher may be better.
func TestPlanOfABaseline(t *testing.T) {
	base := arm{file: "x", hardware: "1x H100", prompt: "2048", slow: 1, cv: 0.01, seed: 1}.baseline()
	for i := range base.Runs {
		base.Runs[i].Values["output-tok/s"] = 1000 + 4*float64(i)
		base.Runs[i].Values["p50-ttft-sec"] = 0.04 * math.Exp(0.2*math.Sin(float64(i)))
	}
	path := filepath.Join(t.TempDir(), "x.bench")
	require.NoError(t, regressions.WriteBaseline(path, base, false))

	f, status := plan(t, "-baseline", path)
	assert.Equal(t, exitOK, status)
	assert.Equal(t, 4, f.Comparisons, "three metrics and the error rate")
	var resolvable []string
	for _, m := range f.Metrics {
		resolvable = append(resolvable, fmt.Sprintf("%s %s %t", m.Metric, m.Role, m.Resolvable))
		assert.Greater(t, m.PlannedCV, m.CV, "planned with the upper bound")
	}
	assert.Equal(t, []string{"p50-tpot-sec gated true", "p50-e2e-sec gated true", "p50-ttft-sec watched false"}, resolvable)

	var out, bad bytes.Buffer
	assert.Equal(t, exitUnusable, planVerb([]string{"-baseline", path, "-metrics", "output-tok/s=5%"}, &out, &bad))
	assert.Contains(t, bad.String(), "refused on an open loop: output-tok/s: throughput below saturation is the offered load echoed back")

	base.Point = []metric.Pair{{Key: "in-flight", Value: "64"}}
	base.PointHash = metric.Hash(base.Point)
	require.NoError(t, os.Remove(path))
	require.NoError(t, regressions.WriteBaseline(path, base, false))
	f, status = plan(t, "-baseline", path, "-metrics", "p50-ttft-sec=10%,output-tok/s=5%")
	assert.Equal(t, exitNegative, status, "gated, it must be resolvable")
	assert.Equal(t, []bool{false, true}, []bool{f.Metrics[0].Resolvable, f.Metrics[1].Resolvable})
	assert.Equal(t, "-metrics p50-ttft-sec="+strings.ReplaceAll(percent(float64(f.Metrics[0].Remedy.Margin)), " ", ""), f.Metrics[0].WouldDo[0].Text)

	f, _ = plan(t, "-baseline", path, "-metrics", "p50-ttft-sec", "-interleaved")
	assert.Equal(t, []any{"interleaved", 3}, []any{f.Design, f.Metrics[0].Looks[0].Baseline})
	f, _ = plan(t, "-baseline", path, "-metrics", "error-rate=1%")
	assert.InDelta(t, 0.0012, float64(f.Metrics[0].PlannedCV), 0.0001, "identical shares: the floor of a tenth of a point")
}

func TestPlanRounding(t *testing.T) {
	for _, row := range []struct{ x, up, down float64 }{
		{0.06596, 0.066, 0.065}, {0.066, 0.066, 0.066}, {0.00312, 0.0032, 0.0031}, {0.0051, 0.0051, 0.0051}, {1.2345, 1.235, 1.234},
	} {
		assert.InDelta(t, row.up, roundUp(row.x), 1e-12, "%v", row.x)
		assert.InDelta(t, row.down, roundDown(row.x), 1e-12, "%v", row.x)
	}
}

func TestPlanWords(t *testing.T) {
	for x, want := range map[float64]string{0: "0 %", 0.0001: "<0.1 %", 0.0123: "1.2 %", 0.9996: ">99.9 %", 1: "100 %"} {
		assert.Equal(t, want, chance(number(x)))
	}
	for x, want := range map[float64]string{0: "0 %", 0.00123: "0.12 %", 0.05: "5.0 %", 1.5: "150.0 %", math.Inf(1): "unbounded", math.NaN(): "unbounded"} {
		assert.Equal(t, want, tenths(x))
	}
}
