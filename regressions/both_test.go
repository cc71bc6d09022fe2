package regressions_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inTurns are a control and a candidate of n runs each that were made in
// turns, over so many starts of each engine: what the arms are, with names,
// builds and times.
func inTurns(control, candidate regressions.Arm) (regressions.Arm, regressions.Arm) {
	control.Name, candidate.Name = metric.ArmControl, metric.ArmCandidate
	candidate = latest(candidate)
	candidate.Identity = []metric.Pair{{Key: "version", Value: "0.22.0"}}
	for i := range candidate.Runs {
		at := recorded.AddDate(0, 0, 7).Add(time.Duration(4*i) * time.Minute)
		candidate.Runs[i].Time, control.Runs[i].Time = at, at.Add(2*time.Minute)
	}
	return control, candidate
}

// beside attaches a control to an arm.
func beside(t *testing.T, arm, control regressions.Arm) regressions.Arm {
	t.Helper()
	control.Name, arm.Name = metric.ArmControl, metric.ArmCandidate
	out, err := arm.Beside(control)
	require.NoError(t, err)
	out.Name = ""
	return out
}

// The text of every way in which two builds were measured at once.
func TestTextOfBoth(t *testing.T) {
	for _, row := range []struct {
		name      string
		n, starts int
		cv, tpot  float64
		change    func(control, candidate *regressions.Arm)
		want      regressions.Status
	}{
		{name: "pass", n: 3, starts: 3, cv: 0.008, tpot: 1.003, want: regressions.Pass},
		{name: "regressed, each on its own start", n: 5, starts: 5, cv: 0.008, tpot: 1.08, want: regressions.Regressed},
		{name: "regressed, one start of each", n: 3, starts: 1, cv: 0.008, tpot: 1.11, want: regressions.Regressed},
		{name: "pass, the pair of starts is the unit", n: 12, starts: 6, cv: 0.008, tpot: 1.003, want: regressions.Pass},
		{name: "regressed, not in turns", n: 3, starts: 3, cv: 0.008, tpot: 1.11, want: regressions.Regressed, change: func(control, _ *regressions.Arm) {
			for i := range control.Runs {
				control.Runs[i].Time = recorded.Add(time.Duration(i) * time.Minute)
			}
		}},
		{name: "inconclusive, another look", n: 3, starts: 3, cv: 0.04, tpot: 1.02, want: regressions.Inconclusive},
		{name: "improved", n: 3, starts: 3, cv: 0.008, tpot: 0.88, want: regressions.Improved},
		{name: "invalid, suspicious", n: 3, starts: 3, cv: 0.008, tpot: 0.1, want: regressions.Invalid},
		{name: "invalid, swapped", n: 3, starts: 3, cv: 0.008, tpot: 1, want: regressions.Invalid, change: func(control, candidate *regressions.Arm) {
			*control, *candidate = *candidate, *control
		}},
		{name: "invalid, other arrivals", n: 3, starts: 3, cv: 0.008, tpot: 1, want: regressions.Invalid, change: func(control, _ *regressions.Arm) {
			*control = otherArrivals(*control)
		}},
		{name: "invalid, a run alone", n: 4, starts: 4, cv: 0.008, tpot: 1, want: regressions.Invalid, change: func(control, _ *regressions.Arm) {
			control.Runs = control.Runs[:3]
		}},
		{name: "invalid, other hardware", n: 3, starts: 3, cv: 0.008, tpot: 1, want: regressions.Invalid, change: func(_, candidate *regressions.Arm) {
			*candidate = moved(*candidate)
		}},
		{name: "invalid, short outputs", n: 3, starts: 3, cv: 0.008, tpot: 1, want: regressions.Invalid, change: func(_, candidate *regressions.Arm) {
			with(*candidate, "mean-output-tokens", func(int) float64 { return 88 })
		}},
	} {
		control, candidate := inTurns(shaped(row.n, row.starts, row.cv, 1, 1), shaped(row.n, row.starts, row.cv, row.tpot, 1))
		// The noise of the arms is not the same, as that of the arrivals is.
		for i, r := range control.Runs {
			for _, name := range []string{"p50-tpot-sec", "p50-e2e-sec", "p50-ttft-sec"} {
				r.Values[name] *= math.Exp(row.cv / 2 * wobble[11-i])
			}
		}
		if row.change != nil {
			row.change(&control, &candidate)
		}
		v := regressions.JudgeBoth(control, candidate, regressions.Gate{})
		require.Equal(t, row.want, v.Status, "%s: %s", row.name, v.Text())
		golden(t, "both/"+row.name, v.Text()+"\n")
	}
}

// A machine that is 10 % slower today (tt-metal#50075: a candidate 20 % slower
// beside a canary 19 % slower): the stored baseline alone blames the build, and
// against the control's runs it is cleared; so is a regression of the build
// found that a faster machine hides.
func TestAControlTakesTheMachineOff(t *testing.T) {
	base := stored(beside(t, shaped(12, 2, 0.009, 1, 1), shaped(12, 2, 0.004, 1.02, 1)))
	path := filepath.Join(t.TempDir(), "b.bench")
	require.NoError(t, regressions.WriteBaseline(path, base, false))
	read, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	require.Equal(t, base, read)

	today := func(machine, build float64) regressions.Arm {
		return beside(t, latest(shaped(3, 1, 0.008, machine*build, machine)), shaped(3, 1, 0.004, 1.02*machine, machine))
	}
	alone := today(1.1, 1)
	for i := range alone.Runs {
		alone.Runs[i].Control = nil
	}
	for _, row := range []struct {
		name string
		cand regressions.Arm
		want regressions.Status
	}{
		{"the machine is slower, without a control", alone, regressions.Regressed},
		{"the machine is slower", today(1.1, 1), regressions.Pass},
		{"the build is slower and the machine faster", today(0.9, 1.11), regressions.Regressed},
	} {
		v := regressions.Judge(read, row.cand, regressions.Gate{})
		require.Equal(t, row.want, v.Status, "%s: %s", row.name, v.Text())
		golden(t, "beside/"+row.name, v.Text()+"\n")
	}

	other := today(1, 1)
	base.ControlIdentity = []metric.Pair{{Key: "engine-version", Value: "0.21.0"}}
	other.ControlIdentity = []metric.Pair{{Key: "engine-version", Value: "0.22.0"}}
	v := regressions.Judge(base, other, regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, `the control is another build than the baseline's: engine-version "0.21.0" → "0.22.0"; a control must be frozen`, v.Reason)

	// A baseline without a control cannot use the candidate's, and says so.
	v = regressions.Judge(stored(shaped(12, 2, 0.009, 1, 1)), today(1, 1), regressions.Gate{})
	assert.Equal(t, regressions.Pass, v.Status)
	assert.Contains(t, v.Text(), "the control here is not used, since the baseline has none")
}

func TestBesideRefusesWhatDoesNotBelongTogether(t *testing.T) {
	arm := func() regressions.Arm { return shaped(3, 1, 0.008, 1, 1) }
	named := func(name string) regressions.Arm { a := arm(); a.Name = name; return a }
	twice := arm()
	twice.Runs = append(twice.Runs, twice.Runs[0])
	for _, row := range []struct {
		name         string
		arm, control regressions.Arm
		want         string
	}{
		{"swapped", named(metric.ArmControl), arm(), "the arms are swapped"},
		{"swapped", arm(), named(metric.ArmCandidate), "the arms are swapped"},
		{"a run without a partner", shaped(4, 1, 0.008, 1, 1), arm(), "run 3 has no control run of the same index"},
		{"a control run twice", arm(), twice, "the control has run 0 twice"},
		{"other arrivals", arm(), otherArrivals(arm()), "run 0 has other arrivals than its control run"},
		{"another point", arm(), elsewhere(arm()), "workload changed"},
		{"other hardware", arm(), moved(arm()), "other hardware or engine"},
	} {
		_, err := row.arm.Beside(row.control)
		assert.ErrorContains(t, err, row.want, row.name)
	}
	bad := arm()
	bad.Problems = []string{"run 1 is invalid (errors): 3 % failed"}
	got, err := arm().Beside(bad)
	require.NoError(t, err)
	assert.Equal(t, []string{"control run 1 is invalid (errors): 3 % failed"}, got.Problems)
}

// What a file of a baseline with a control must not hold.
func TestRefusedControls(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(b *regressions.Baseline)
		want   string
	}{
		{"one run without", func(b *regressions.Baseline) { b.Runs[2].Control = nil }, "run 0 and run 2: one has a control run and the other has none"},
		{"another seed", func(b *regressions.Baseline) { b.Runs[1].Control.Seed++ }, "run 1 has a control run of another index or seed"},
		{"a control's control", func(b *regressions.Baseline) { b.Runs[1].Control.Control = &regressions.Run{Values: b.Runs[1].Values} }, "run 1 has a control run with a control of its own"},
		{"no values", func(b *regressions.Baseline) { b.Runs[1].Control.Values = nil }, "run 1: its control run has no values"},
		{"a value that is none", func(b *regressions.Baseline) { b.Runs[1].Control.Values["p50-tpot-sec"] = math.NaN() }, "run 1: of the control: p50-tpot-sec is NaN"},
	} {
		b := stored(beside(t, shaped(3, 1, 0.009, 1, 1), shaped(3, 1, 0.004, 1, 1)))
		row.change(b)
		err := regressions.WriteBaseline(filepath.Join(t.TempDir(), "b.bench"), b, false)
		assert.ErrorContains(t, err, row.want, row.name)
	}
	path := filepath.Join(t.TempDir(), "b.bench")
	b := stored(beside(t, shaped(3, 1, 0.009, 1, 1), with(shaped(3, 1, 0.004, 1, 1), "p99-tpot-sec", func(int) float64 { return 0.01 })))
	delete(b.Runs[1].Control.Values, "p99-tpot-sec")
	b.Runs[1].Control.Missing["p99-tpot-sec"] = "too few"
	require.NoError(t, regressions.WriteBaseline(path, b, false))
	got, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	assert.Equal(t, b, got)

	more := stored(latest(shaped(3, 1, 0.009, 1, 1)))
	assert.ErrorContains(t, regressions.AppendStart(path, more), "only one of the two has runs of a control")
	more = stored(beside(t, latest(shaped(3, 1, 0.009, 1, 1)), latest(shaped(3, 1, 0.009, 1, 1))))
	require.NoError(t, regressions.AppendStart(path, more))
	got, err = regressions.ReadBaseline(path)
	require.NoError(t, err)
	assert.Len(t, got.Runs, 6)
	assert.False(t, slices.ContainsFunc(got.Runs, func(r regressions.Run) bool { return r.Control == nil }))
}
