package regressions_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record is a run of n requests, two a second, each of 256 tokens at 6 ms
// after a first at 40 ms.
func record(run, n int) *metric.Record {
	r := &metric.Record{
		Schema: metric.Schema, Test: "TestX", PointName: "poisson-2",
		Point: point, PointHash: metric.Hash(point), Key: key,
		Identity: []metric.Pair{{Key: "version", Value: "0.21.0"}},
		Run:      run, Start: 0, StartID: "boot-7", Seed: uint64(100 + run),
		Time: recorded, Flush: "flushed",
		From: time.Second, To: time.Second + time.Duration(n)*500*time.Millisecond,
	}
	for i := range n {
		at := time.Second + time.Duration(i)*500*time.Millisecond
		first := at + 40*time.Millisecond
		r.Requests = append(r.Requests, metric.Timeline{
			ID: fmt.Sprint(i), Phase: metric.Window, Scheduled: at, Sent: at,
			FirstEvent: first, FirstToken: first, FirstContent: first,
			LastToken: first + 255*6*time.Millisecond, Closed: first + 255*6*time.Millisecond,
			Events: 256, FirstTokens: 1, TokenGaps: true,
			PromptTokens: 2048, OutputTokens: 256, CachedTokens: -1, AskedPrompt: 2048, AskedOutput: 256,
		})
	}
	return r
}

func TestFromRecords(t *testing.T) {
	a, err := regressions.FromRecords([]*metric.Record{record(0, 60), record(1, 60)}, nil)
	require.NoError(t, err)
	assert.Equal(t, "TestX", a.Test)
	assert.Equal(t, "poisson-2", a.PointName)
	assert.Equal(t, metric.Schema, a.Schema)
	assert.Equal(t, key, a.Key)
	assert.Equal(t, "flushed", a.Cache)
	require.Len(t, a.Runs, 2)
	r := a.Runs[1]
	assert.Equal(t, []any{1, uint64(101), 0, "boot-7", recorded}, []any{r.Index, r.Seed, r.Start, r.StartID, r.Time})
	assert.Equal(t, 0.006, r.Values["p50-tpot-sec"])
	assert.Equal(t, 0.040, r.Values["p50-ttft-sec"])
	assert.Equal(t, (1570 * time.Millisecond).Seconds(), r.Values["p50-e2e-sec"])
	assert.Equal(t, 0.0, r.Values["error-rate"])
	assert.Equal(t, 256.0, r.Values["mean-output-tokens"])
	// What a run does not have is not zero: it is missing, and why is known.
	assert.NotContains(t, r.Values, "p99-ttft-sec")
	assert.Contains(t, r.Missing["p99-ttft-sec"], "needs 1,000")
	assert.NotContains(t, r.Values, "cached-share")
	assert.Contains(t, r.Missing["cached-share"], "no count of cached tokens")
	for _, name := range metric.Names() {
		_, has := r.Values[name]
		_, lacks := r.Missing[name]
		assert.True(t, has != lacks, "%s is either there or missing with a reason", name)
	}

	a, err = regressions.FromRecords([]*metric.Record{record(0, 60)}, []string{"p50-tpot-sec"})
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"p50-tpot-sec": 0.006}, a.Runs[0].Values)
}

// The records of a baseline and of a candidate, through the file, to a verdict.
func TestFromRecordsToVerdict(t *testing.T) {
	var records []*metric.Record
	for i := range 12 {
		records = append(records, record(i, 60))
	}
	base, err := regressions.FromRecords(records, nil)
	require.NoError(t, err)
	path := regressions.BaselinePath(t.TempDir(), base.Test, base.PointName, base.Key)
	require.NoError(t, regressions.WriteBaseline(path, &regressions.Baseline{Arm: base, Recorded: recorded, Commit: "3f2c9a1"}, false))
	b, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	cand, err := regressions.FromRecords(records[:3], nil)
	require.NoError(t, err)
	assert.Equal(t, regressions.Pass, regressions.Judge(b, cand, regressions.Gate{}).Status)

	for _, r := range records[:3] {
		for i := range r.Requests {
			q := &r.Requests[i]
			q.LastToken = q.FirstToken + 255*7*time.Millisecond
		}
	}
	cand, err = regressions.FromRecords(records[:3], nil)
	require.NoError(t, err)
	v := regressions.Judge(b, cand, regressions.Gate{})
	assert.Equal(t, regressions.Regressed, v.Status)
	assert.Contains(t, v.Reason, "p50-tpot-sec +16.7 %")
}

func TestRecordsThatAreNoArm(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(r *metric.Record)
		want   string
	}{
		{"another point", func(r *metric.Record) { r.Point, r.PointHash = point[:2], "b" }, "records[1] and records[0] are not of one arm: point hash"},
		{"other hardware", func(r *metric.Record) { r.Key = key[:1] }, `engine "vllm" → none`},
		{"another schema", func(r *metric.Record) { r.Schema = 99 }, "schema 1 and 99"},
		{"virtual time", func(r *metric.Record) { r.Virtual = true }, "virtual time and a real clock"},
		{"another flush", func(r *metric.Record) { r.Flush = "refused" }, `cache flush "flushed" and "refused"`},
		{"the same run", func(r *metric.Record) { r.Run = 0 }, "records[0] and records[1] are the same run, 0 of start 0/boot-7"},
	} {
		records := []*metric.Record{record(0, 30), record(1, 30)}
		row.change(records[1])
		_, err := regressions.FromRecords(records, nil)
		assert.ErrorContains(t, err, row.want, row.name)
	}
	_, err := regressions.FromRecords(nil, nil)
	assert.EqualError(t, err, "regressions: no records: nothing was measured")
	_, err = regressions.FromRecords([]*metric.Record{nil}, nil)
	assert.EqualError(t, err, "regressions: records[0] is nil")
	_, err = regressions.FromRecords([]*metric.Record{record(0, 30)}, []string{"tpot"})
	assert.EqualError(t, err, `regressions: unknown metric "tpot": see metric.Names`)
}

// What makes a run invalid makes its comparison invalid.
func TestProblemsOfRecords(t *testing.T) {
	records := []*metric.Record{record(0, 30), record(1, 30), record(2, 30)}
	records[1].Problems = []metric.Problem{{Kind: "client-limited", Text: "lag p99 12ms, at most 5ms: use a faster host"}}
	a, err := regressions.FromRecords(records, nil)
	require.NoError(t, err)
	v := regressions.Judge(stored(a), a, regressions.Gate{})
	assert.Equal(t, regressions.Invalid, v.Status)
	assert.Equal(t, "run 2 is invalid (client-limited): lag p99 12ms, at most 5ms: use a faster host", v.Reason)
}
