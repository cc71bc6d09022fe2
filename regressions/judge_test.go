package regressions_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// quiet are a baseline and a candidate of an engine that varies by 1 %.
var quiet = engine{run: 0.01}

func TestStatuses(t *testing.T) {
	slower := func(by float64) engine { e := quiet; e.slower = by; return e }
	for _, row := range []struct {
		name string
		now  engine
		want regressions.Status
		runs int
	}{
		{"unchanged", quiet, regressions.Pass, 3},
		{"decode 10 % slower", slower(0.10), regressions.Regressed, 3},
		{"decode 2 % slower is within the margin", slower(0.02), regressions.Pass, 8},
		{"decode 15 % faster", slower(-0.15), regressions.Improved, 3},
		{"decode three times as fast is suspicious", slower(-0.67), regressions.Invalid, 3},
	} {
		b, candidate := arms(1, quiet, row.now)
		v, runs := gate(b, candidate, regressions.Gate{})
		assert.Equal(t, row.want, v.Status, "%s: %s", row.name, v.Text())
		assert.Equal(t, row.runs, runs, row.name)
		assert.Equal(t, row.want == regressions.Pass || row.want == regressions.Improved, v.Status.Green())
	}
}

func TestJudgeGivesTheSameVerdictAgain(t *testing.T) {
	b, candidate := arms(2, quiet, quiet)
	assert.Equal(t, regressions.Judge(b, candidate(5), regressions.Gate{}).Text(), regressions.Judge(b, candidate(5), regressions.Gate{}).Text())
}

// An undecided look asks for the next one, and the last for none.
func TestLooks(t *testing.T) {
	b, candidate := arms(3, engine{run: 0.08}, engine{run: 0.08, slower: 0.09})
	for n, next := range map[int]int{3: 5, 4: 5, 5: 8, 8: 12, 12: 0} {
		v := regressions.Judge(b, candidate(n), regressions.Gate{})
		require.Equal(t, regressions.Inconclusive, v.Status, "%d runs: %s", n, v.Text())
		assert.Equal(t, next, v.NextLook, "%d runs", n)
		assert.False(t, v.Status.Green())
	}
	v := regressions.Judge(b, candidate(4), regressions.Gate{Looks: []int{4, 6}})
	assert.Equal(t, 6, v.NextLook)
}

// What the noise can never resolve is said before engine time is spent on it:
// with other arrivals there is no pairing to hope for.
func TestHopelessMarginStopsAtOnce(t *testing.T) {
	noisy := engine{run: 0.08}
	b, candidate := arms(4, noisy, noisy)
	other := candidate(3)
	for i := range other.Runs {
		other.Runs[i].Seed += 77
	}
	v := regressions.Judge(b, other, regressions.Gate{})
	assert.Equal(t, regressions.Inconclusive, v.Status)
	assert.Equal(t, 0, v.NextLook, v.Text())
	assert.Contains(t, v.Remedy, "a margin of at least")
	// With the same arrivals, pairs may yet resolve it.
	v = regressions.Judge(b, candidate(3), regressions.Gate{})
	assert.Equal(t, 5, v.NextLook, v.Text())
	// And what may be a regression is followed up.
	for i := range other.Runs {
		other.Runs[i].Values["p50-tpot-sec"] *= 1.12
	}
	v = regressions.Judge(b, other, regressions.Gate{Metrics: []regressions.Metric{{Name: "p50-tpot-sec"}}})
	assert.NotEqual(t, 0, v.NextLook, v.Text())
}

func TestTooFewRunsAreInvalid(t *testing.T) {
	b, candidate := arms(1, quiet, quiet)
	for n := range 3 {
		v := regressions.Judge(b, candidate(n), regressions.Gate{})
		assert.Equal(t, regressions.Invalid, v.Status, "%d runs", n)
		assert.Equal(t, 3, v.NextLook, "%d runs", n)
	}
	small := *b
	small.Runs = b.Runs[:2]
	v := regressions.Judge(&small, candidate(3), regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, "the baseline has 2 runs, at least 3 are needed", v.Reason)
	assert.Equal(t, regressions.Invalid, regressions.Judge(nil, candidate(3), regressions.Gate{}).Status)
	assert.Equal(t, regressions.Invalid, regressions.Judge(&regressions.Baseline{}, candidate(3), regressions.Gate{}).Status)
	assert.Equal(t, regressions.Invalid, regressions.Compare(b, nil, regressions.Gate{}).Status)
	assert.Equal(t, regressions.Invalid, regressions.Compare(nil, nil, regressions.Gate{}).Status)
}

// Arms that were not measured alike are refused, and what differs is named.
func TestConditions(t *testing.T) {
	pairs := func(old []metric.Pair, key, value string) []metric.Pair {
		out := append([]metric.Pair(nil), old...)
		for i := range out {
			if out[i].Key == key {
				out[i].Value = value
			}
		}
		return out
	}
	for _, row := range []struct {
		name   string
		change func(a *regressions.Arm)
		want   string
	}{
		{"other hardware", func(a *regressions.Arm) { a.Key = pairs(key, "hardware", "1x H100 NVL") },
			`other hardware or engine: hardware "1x H100 SXM 80GB" → "1x H100 NVL"`},
		{"another workload", func(a *regressions.Arm) { a.Point, a.PointHash = pairs(point, "workload", "chat(2049/256)"), "b" },
			`workload changed: workload "chat(2048/256)" → "chat(2049/256)"`},
		{"a pair more", func(a *regressions.Arm) {
			a.Point, a.PointHash = append(append([]metric.Pair(nil), point...), metric.Pair{Key: "client-limit", Value: "8"}), "b"
		}, `workload changed: client-limit none → "8"`},
		{"a pair less", func(a *regressions.Arm) { a.Point, a.PointHash = point[:2], "b" },
			`workload changed: requests "300" → none`},
		{"other formulas", func(a *regressions.Arm) { a.Schema++ },
			fmt.Sprintf("metric formulas changed: the baseline has schema %d, these runs %d", metric.Schema, metric.Schema+1)},
		{"a virtual clock", func(a *regressions.Arm) { a.Virtual = true },
			"virtual time and a real clock do not compare: the baseline is from a real clock, these runs from virtual time"},
		{"an unflushed cache", func(a *regressions.Arm) { a.Cache = "unsupported" },
			`cache state differs: flush "flushed" in the baseline, "unsupported" here`},
		{"invalid runs", func(a *regressions.Arm) { a.Problems = []string{"run 1 is invalid (errors): 3 % failed"} },
			"run 1 is invalid (errors): 3 % failed"},
	} {
		b, candidate := arms(1, quiet, quiet)
		a := candidate(3)
		row.change(&a)
		v := regressions.Judge(b, a, regressions.Gate{})
		assert.Equal(t, regressions.Invalid, v.Status, row.name)
		assert.Equal(t, row.want, v.Reason, row.name)
		assert.NotEmpty(t, v.Remedy, row.name)
		assert.Equal(t, 0, v.NextLook, row.name)
	}
}

// Values that are none, or not there, are never a pass.
func TestBadValues(t *testing.T) {
	set := func(name string, v float64) func(regressions.Run) {
		return func(r regressions.Run) { r.Values[name] = v }
	}
	drop := func(name, why string) func(regressions.Run) {
		return func(r regressions.Run) { delete(r.Values, name); r.Missing[name] = why }
	}
	for _, row := range []struct {
		name   string
		change func(regressions.Run)
		all    bool
		want   string
	}{
		{"NaN", set("p50-tpot-sec", math.NaN()), false, "no valid value: run 1 has no valid p50-tpot-sec: it is NaN"},
		{"infinite", set("p50-tpot-sec", math.Inf(1)), false, "no valid value: run 1 has no valid p50-tpot-sec: it is +Inf"},
		{"zero", set("p50-tpot-sec", 0), false, "no valid value: run 1 has no valid p50-tpot-sec: it is 0, must be positive"},
		{"negative", set("p50-tpot-sec", -0.4), false, "no valid value: run 1 has no valid p50-tpot-sec: it is -0.4, must be positive"},
		{"missing from one run", drop("p50-tpot-sec", "none of 300 requests succeeded"), false, "no valid value: run 1 has no p50-tpot-sec: none of 300 requests succeeded"},
		{"vanished", drop("p50-tpot-sec", "outputs have one token"), true, "p50-tpot-sec vanished: the baseline has it, here run 0 has no p50-tpot-sec: outputs have one token"},
		{"error rate vanished", drop("error-rate", "not counted"), true, "error-rate vanished: the baseline has it, here run 0 has no error-rate: not counted"},
	} {
		b, candidate := arms(1, quiet, quiet)
		a := candidate(3)
		for i, r := range a.Runs {
			if row.all || i == 1 {
				row.change(r)
			}
		}
		v := regressions.Judge(b, a, regressions.Gate{})
		assert.Equal(t, regressions.Invalid, v.Status, row.name)
		assert.Equal(t, row.want, v.Reason, row.name)
	}
}

func TestNothingInCommonIsInvalid(t *testing.T) {
	b := stored(only("p50-ttft-sec", 0.1, 0.1, 0.1, 0.1, 0.1))
	v := regressions.Judge(b, only("p50-tpot-sec", 0.1, 0.1, 0.1), regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Contains(t, v.Reason, "p50-ttft-sec vanished")
	v = regressions.Judge(stored(only("p99-ttft-sec", 1, 1, 1)), only("p99-ttft-sec", 1, 1, 1), regressions.Gate{})
	assert.Equal(t, "nothing to compare: the arms have no gated metric in common", v.Reason)
	named := regressions.Gate{Metrics: []regressions.Metric{{Name: "p99-tpot-sec"}}}
	v = regressions.Judge(stored(only("p99-ttft-sec", 1, 1, 1)), only("p99-ttft-sec", 1, 1, 1), named)
	assert.Equal(t, "p99-tpot-sec is gated, but run 0 has no p99-tpot-sec: not recorded", v.Reason)
	v = regressions.Judge(stored(only("p99-ttft-sec", 1, 1, 1)), only("p99-tpot-sec", 1, 1, 1), named)
	assert.Equal(t, "p99-tpot-sec is gated, but in the baseline run 0 has no p99-tpot-sec: not recorded", v.Reason)
}

// What has a partner with the same arrivals is paired, the rest is left out:
// a look beyond the baseline's runs does not lose the pairs.
func TestMoreRunsThanTheBaselineHas(t *testing.T) {
	e := engine{arrivals: 0.05, run: 0.01}
	b, candidate := arms(8, e, e)
	a := candidate(12)
	extra := engine{arrivals: 0.05, run: 0.01}.values(luck(99), noise(99), 8, 1)
	for i, v := range extra {
		a.Runs = append(a.Runs, regressions.Run{Index: 12 + i, Seed: 7, StartID: "a-new", Values: v})
	}
	v := regressions.Judge(b, a, regressions.Gate{})
	assert.Equal(t, regressions.Pass, v.Status)
	assert.Contains(t, v.Text(), "12 pairs of runs with the same arrivals, those without left out: the baseline has no run with the arrivals of 8 of 20 indices")
	assert.Contains(t, v.Text(), "20 runs (12 compared), 1 start, same arrivals in 12 of 20")

	// Four pairs are too few: all runs are compared, unpaired.
	a.Runs = append(a.Runs[:4:4], a.Runs[12:14]...)
	assert.Contains(t, regressions.Judge(b, a, regressions.Gate{}).Text(), "unpaired, since the baseline has no run with the arrivals of 2 of 6 indices")
}
