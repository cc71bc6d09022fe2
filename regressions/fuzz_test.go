package regressions_test

import (
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever is read without an error is written and read back equal, and
// nothing that is read makes reading panic.
func FuzzBaseline(f *testing.F) {
	data, err := regressions.Format(full())
	require.NoError(f, err)
	f.Add(data)
	for _, e := range edits {
		f.Add([]byte(e.change(string(data))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := regressions.Parse(data, "in")
		if err != nil {
			return
		}
		out, err := regressions.Format(b)
		require.NoError(t, err)
		again, err := regressions.Parse(out, "out")
		require.NoError(t, err)
		assert.Equal(t, b, again)
		twice, err := regressions.Format(again)
		require.NoError(t, err)
		assert.Equal(t, string(out), string(twice), "the same baseline is the same bytes")
	})
}

// A baseline of any names and values that are values reads back equal.
func FuzzBaselineRoundTrip(f *testing.F) {
	f.Add("TestX/a b", "poisson-4", "key: Ü", " v\n", uint64(7), 3, 0.00578, "why \"not\"")
	f.Add("", "p", "", "", uint64(0), 0, 5e-324, "")
	f.Fuzz(func(t *testing.T, test, point, key, value string, seed uint64, index int, v float64, why string) {
		b := stored(only("p50-tpot-sec", v, v))
		b.Test, b.PointName, b.Commit = test, point, value
		b.Key[0].Key, b.Key[0].Value = key, value
		b.Point = append(b.Point[:1:1], b.Key[0])
		b.Identity = append(b.Identity, b.Key[0])
		b.Runs[0].Seed, b.Runs[0].Index, b.Runs[0].StartID = seed, index, value
		b.Runs[1].Missing["p50-ttft-sec"] = why
		b.Key = b.Key[:1]
		data, err := regressions.Format(b)
		if err != nil {
			return
		}
		got, err := regressions.Parse(data, "round")
		require.NoError(t, err, "%s", data)
		assert.Equal(t, b, got)
	})
}
