package regressions_test

import (
	"bytes"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
)

// benchstat old.bench new.bench, in process: what differs between two
// baselines of one point (commit, dates, seeds, starts, the engine's version)
// splits none of its tables, so that every metric has one row with all runs of
// both files.
func TestBenchstatComparesTwoBaselines(t *testing.T) {
	old := stored(shaped(12, 2, 0.009, 1, 1))
	now := stored(otherArrivals(latest(shaped(8, 1, 0.008, 1.1, 1))))
	now.Commit, now.Recorded, now.Identity[0].Value = "8d31c0f", now.Recorded.AddDate(0, 1, 0), "0.22.0"

	// The projections are benchstat's defaults.
	var parser benchproc.ProjectionParser
	filter, err := benchproc.NewFilter("*")
	require.NoError(t, err)
	table, unit, err := parser.ParseWithUnit(".config", filter)
	require.NoError(t, err)
	row, err := parser.Parse(".fullname", filter)
	require.NoError(t, err)
	tables, rows := map[benchproc.Key]bool{}, map[benchproc.Key]bool{}
	samples := map[string]map[string][]float64{}
	for file, b := range map[string]*regressions.Baseline{"old": old, "new": now} {
		data, err := regressions.Format(b)
		require.NoError(t, err)
		r := benchfmt.NewReader(bytes.NewReader(data), file)
		samples[file] = map[string][]float64{}
		for r.Scan() {
			switch rec := r.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Fatal(rec)
			case *benchfmt.Result:
				for _, key := range table.ProjectValues(rec) {
					tables[key] = true
				}
				rows[row.Project(rec)] = true
				for _, v := range rec.Values {
					samples[file][v.Unit] = append(samples[file][v.Unit], v.Value)
				}
			}
		}
		require.NoError(t, r.Err())
		assert.Equal(t, -1, r.Units().GetBetter("p50-tpot-sec"), "lower is better")
		assert.Equal(t, 0, r.Units().GetBetter("mean-output-tokens"), "neither is better")
	}
	assert.Len(t, rows, 1)
	units := map[string]bool{}
	for key := range tables {
		units[key.Get(unit)] = true
	}
	assert.Len(t, tables, len(units), "one table for every unit")
	assert.Len(t, units, len(old.Runs[0].Values))

	a := benchmath.NewSample(samples["old"]["p50-tpot-sec"], &benchmath.DefaultThresholds)
	b := benchmath.NewSample(samples["new"]["p50-tpot-sec"], &benchmath.DefaultThresholds)
	assert.Equal(t, []int{12, 8}, []int{len(a.Values), len(b.Values)})
	c := benchmath.AssumeNothing.Compare(a, b)
	assert.Less(t, c.P, 0.001)
	delta := c.FormatDelta(benchmath.AssumeNothing.Summary(a, 0.95).Center, benchmath.AssumeNothing.Summary(b, 0.95).Center)
	assert.Equal(t, "+10.16%", delta)
}

// The name's end is not taken for GOMAXPROCS, which would join points that
// differ only there.
func TestBenchmarkNames(t *testing.T) {
	for point, want := range map[string]string{
		"poisson-4":    "DecodeDidNotSlowDown/poisson=4",
		"poisson-12.5": "DecodeDidNotSlowDown/poisson-12.5",
		"closed-64":    "DecodeDidNotSlowDown/closed=64",
		"serial":       "DecodeDidNotSlowDown/serial",
		"64":           "DecodeDidNotSlowDown/64",
		"a b\tc-7":     "DecodeDidNotSlowDown/a_b_c=7",
		"-8":           "DecodeDidNotSlowDown/=8",
	} {
		b := stored(shaped(3, 1, 0.009, 1, 1))
		b.PointName = point
		data, err := regressions.Format(b)
		require.NoError(t, err)
		r := benchfmt.NewReader(bytes.NewReader(data), "x")
		for r.Scan() {
			if rec, ok := r.Result().(*benchfmt.Result); ok {
				assert.Equal(t, want, string(rec.Name))
				_, parts := rec.Name.Parts()
				for _, p := range parts {
					assert.NotEqual(t, byte('-'), p[0], "%s has a part %s", want, p)
				}
			}
		}
		require.NoError(t, r.Err())
	}
}
