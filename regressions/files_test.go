package regressions_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// full is a baseline with everything a file can hold, in awkward spellings.
func full() *regressions.Baseline {
	b := stored(shaped(4, 2, 0.009, 1, 1))
	b.Point = append(append([]metric.Pair(nil), point...), metric.Pair{Key: "Odd key: ü", Value: ` "quoted" and` + "\nbroken"}, metric.Pair{Key: "cache", Value: ""})
	b.Identity = append(b.Identity, metric.Pair{Key: "command line", Value: `vllm serve --x="a b" \ --y`}, metric.Pair{Key: "version", Value: "again"})
	b.Runs[1].StartID = "host 7/boot=3"
	b.Runs[2].Seed = math.MaxUint64
	b.Runs[3].Time = time.Time{}
	for i, r := range b.Runs {
		r.Missing["p99-ttft-sec"] = "p99 of 300 values: needs 1,000"
		if i%2 == 0 {
			r.Missing["p50-itl-sec"] = fmt.Sprintf("%d%% of gaps are zero", i)
		}
	}
	return b
}

func TestBaselineReadsBackEqual(t *testing.T) {
	for name, b := range map[string]*regressions.Baseline{
		"everything": full(), "plain": stored(shaped(12, 2, 0.009, 1, 1)), "virtual": virtual(stored(shaped(3, 1, 0, 1, 1))),
	} {
		path := filepath.Join(t.TempDir(), "TestX", "point@key.bench")
		require.NoError(t, regressions.WriteBaseline(path, b, false), name)
		got, err := regressions.ReadBaseline(path)
		require.NoError(t, err, name)
		assert.Equal(t, b, got, name)
	}
}

func TestBaselineFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.bench")
	b := stored(shaped(3, 1, 0.009, 1, 1))
	b.Runs[0].Missing["p99-ttft-sec"] = "p99 of 300 values: needs 1,000"
	require.NoError(t, regressions.WriteBaseline(path, b, false))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	golden(t, "baseline", string(data))
}

// A missing baseline is an error that names the command and what there is.
func TestMissingBaseline(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "testdata", "openloop")
	path := regressions.BaselinePath(dir, "TestDecode/quiet", "poisson-4", key)
	_, err := regressions.ReadBaseline(path)
	require.ErrorIs(t, err, regressions.ErrNoBaseline)
	assert.EqualError(t, err, "regressions: no baseline at "+filepath.ToSlash(path)+": record one with OPENLOOP_UPDATE=1 go test -count=1 -run '^TestDecode$' .")

	other := stored(shaped(3, 1, 0.009, 1, 1))
	other.Key = []metric.Pair{{Key: "hardware", Value: "1x H100 NVL"}}
	elsewhere := regressions.BaselinePath(dir, "TestDecode/quiet", "poisson-4", other.Key)
	require.NoError(t, regressions.WriteBaseline(elsewhere, other, false))
	require.NoError(t, regressions.WriteBaseline(regressions.BaselinePath(dir, "TestDecode/quiet", "closed-8", key), stored(shaped(3, 1, 0.009, 1, 1)), false))
	require.NoError(t, os.WriteFile(regressions.BaselinePath(dir, "TestDecode/quiet", "poisson-8", key), []byte("?"), 0o666))
	_, err = regressions.ReadBaseline(path)
	require.ErrorIs(t, err, regressions.ErrNoBaseline)
	assert.ErrorContains(t, err, "there are baselines of other hardware or engines, which do not compare: "+filepath.Base(elsewhere)+" (hardware 1x H100 NVL)")
	assert.ErrorContains(t, err, "there are baselines of other points of this test: closed-8@")
	assert.ErrorContains(t, err, ".bench (unreadable)")
}

func TestCreateAndOverwriteAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.bench")
	b, newer := stored(shaped(3, 1, 0.009, 1, 1)), stored(shaped(5, 1, 0.009, 1, 1))
	require.NoError(t, regressions.WriteBaseline(path, b, false))
	assert.EqualError(t, regressions.WriteBaseline(path, newer, false), "regressions: "+path+" exists: to replace it, overwrite it or append to it explicitly")
	require.NoError(t, regressions.WriteBaseline(path, newer, true))
	got, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	assert.Len(t, got.Runs, 5)

	// Another point under the same name is a new baseline; another machine's
	// or test's is not this file's.
	newer.Arm = elsewhere(newer.Arm)
	require.NoError(t, regressions.WriteBaseline(path, newer, true))
	for name, change := range map[string]func(b *regressions.Baseline){
		"hardware": func(b *regressions.Baseline) { b.Arm = moved(b.Arm) },
		"test":     func(b *regressions.Baseline) { b.Test = "TestOther" },
		"point":    func(b *regressions.Baseline) { b.PointName = "closed-8" },
	} {
		foreign := *newer
		change(&foreign)
		assert.ErrorContains(t, regressions.WriteBaseline(path, &foreign, true), "is not overwritten: move it away first", name)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left beside it")
}

func TestRefusedBaselines(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(b *regressions.Baseline)
		want   string
	}{
		{"no runs", func(b *regressions.Baseline) { b.Runs = nil }, "it has no runs"},
		{"NaN", func(b *regressions.Baseline) { b.Runs[1].Values["p50-tpot-sec"] = math.NaN() }, "run 1: p50-tpot-sec is NaN, must be finite"},
		{"infinite", func(b *regressions.Baseline) { b.Runs[1].Values["p50-tpot-sec"] = math.Inf(1) }, "run 1: p50-tpot-sec is +Inf, must be finite"},
		{"zero latency", func(b *regressions.Baseline) { b.Runs[1].Values["p50-tpot-sec"] = 0 }, "run 1: p50-tpot-sec is 0, must be positive"},
		{"negative errors", func(b *regressions.Baseline) { b.Runs[1].Values["error-rate"] = -0.1 }, "run 1: error-rate is -0.1, must be positive"},
		{"a metric of no name", func(b *regressions.Baseline) { b.Runs[1].Values["p50-tpot-ms"] = 5 }, `run 1: unknown metric or unit "p50-tpot-ms"`},
		{"a run without values", func(b *regressions.Baseline) { b.Runs[1].Values = nil }, "run 1 has no values"},
		{"a run twice", func(b *regressions.Baseline) { b.Runs[1] = b.Runs[0] }, "run 0 of start 0 is in it twice"},
		{"a negative index", func(b *regressions.Baseline) { b.Runs[1].Index = -1 }, "runs[1] has index -1 and start 0, which must not be negative"},
		{"no point", func(b *regressions.Baseline) { b.PointHash = "" }, "its point has no name or no hash"},
		{"untrusted runs", func(b *regressions.Baseline) { b.Problems = []string{"run 0 is invalid (errors): 3 %"} }, "its runs cannot be trusted: run 0 is invalid (errors): 3 %"},
		{"other formulas", func(b *regressions.Baseline) { b.Schema = 99 }, "its metrics have schema 99"},
		{"two pairs of one name", func(b *regressions.Baseline) { b.Key = append(b.Key[:2:2], metric.Pair{Key: "hardware"}) }, "two pairs of its point or key have the same name"},
		{"too long to read back", func(b *regressions.Baseline) {
			b.Identity = []metric.Pair{{Key: "log", Value: strings.Repeat("x", 70_000)}}
		}, "at most 60000 can be read back"},
	} {
		path := filepath.Join(t.TempDir(), "b.bench")
		b := stored(shaped(3, 1, 0.009, 1, 1))
		row.change(b)
		assert.ErrorContains(t, regressions.WriteBaseline(path, b, true), row.want, row.name)
		_, err := os.Stat(path)
		assert.True(t, errors.Is(err, fs.ErrNotExist), row.name)
	}
	assert.ErrorContains(t, regressions.WriteBaseline("x", nil, true), "there is none")
}

func TestAppendStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.bench")
	assert.ErrorIs(t, regressions.AppendStart(path, full()), regressions.ErrNoBaseline, "appending creates nothing")
	assert.Error(t, regressions.AppendStart(path, nil))

	old := stored(shaped(4, 2, 0.009, 1, 1))
	require.NoError(t, regressions.WriteBaseline(path, old, false))
	assert.EqualError(t, regressions.AppendStart(path, old), "regressions: start a is in "+path+" already: append the runs of another start")

	more := stored(latest(shaped(4, 2, 0.009, 1.01, 1)))
	require.NoError(t, regressions.AppendStart(path, more))
	got, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	var starts []string
	for _, r := range got.Runs {
		starts = append(starts, fmt.Sprint(r.Index, " of ", r.Start, r.StartID))
	}
	assert.Equal(t, []string{"0 of 0a", "1 of 0a", "2 of 1b", "3 of 1b", "0 of 2a-new", "1 of 2a-new", "2 of 3b-new", "3 of 3b-new"}, starts)
	assert.Equal(t, old.Commit, got.Commit)

	for name, change := range map[string]func(b *regressions.Baseline){
		"other hardware or engine": func(b *regressions.Baseline) { b.Arm = moved(b.Arm) },
		"workload changed":         func(b *regressions.Baseline) { b.Arm = elsewhere(b.Arm) },
		"virtual time":             func(b *regressions.Baseline) { b.Virtual = true },
		"cache state differs":      func(b *regressions.Baseline) { b.Cache = "" },
	} {
		other := stored(latest(latest(shaped(4, 2, 0.009, 1, 1))))
		change(other)
		err := regressions.AppendStart(path, other)
		assert.ErrorContains(t, err, "these runs cannot be appended to "+path+": "+name)
	}
}

// A start appended is a start that the gate uses: five of them, each with the
// same arrivals, are the best baseline that there is.
func TestAppendedStartsBecomeTheUnit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.bench")
	require.NoError(t, regressions.WriteBaseline(path, stored(shaped(3, 1, 0.009, 1, 1)), false))
	for i, drift := range []float64{1.01, 0.99, 1.005, 0.995} {
		more := shaped(3, 1, 0.009, drift, drift)
		for j := range more.Runs {
			more.Runs[j].StartID = fmt.Sprint("day ", i)
		}
		require.NoError(t, regressions.AppendStart(path, stored(more)))
	}
	b, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	v := regressions.Judge(b, latest(shaped(3, 1, 0.009, 1.1, 1.1)), regressions.Gate{})
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Contains(t, v.Text(), "the engine start is the unit (5 of the baseline, 1 here), each with the same arrivals")
}
