package regressions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBaselinePath(t *testing.T) {
	short := metric.Hash(key)[:8]
	for _, row := range []struct{ test, point, want string }{
		{"TestDecode", "poisson-4", "dir/TestDecode/poisson-4@" + short + ".bench"},
		{"TestDecode/quiet/8B", "closed-8", "dir/TestDecode/quiet/8B/closed-8@" + short + ".bench"},
		{"TestDecode", "gamma 4/s ×2", "dir/TestDecode/gamma~204~2fs~20~c3~972@" + short + ".bench"},
		{"TestX/../../etc", "a:b", "dir/TestX/~2e~2e/~2e~2e/etc/a~3ab@" + short + ".bench"},
		{"TestX/.hidden/dot.", "con", "dir/TestX/~2ehidden/dot~2e/~63on@" + short + ".bench"},
		{"TestX//y", "", "dir/TestX/y/~@" + short + ".bench"},
		{"", "p", "dir/p@" + short + ".bench"},
	} {
		got := regressions.BaselinePath("dir", row.test, row.point, key)
		assert.Equal(t, row.want, filepath.ToSlash(got))
		rel, err := filepath.Rel("dir", got)
		require.NoError(t, err)
		assert.True(t, filepath.IsLocal(rel), "%s stays below its folder", got)
	}
	assert.True(t, strings.HasSuffix(regressions.BaselinePath("dir", "T", "p", nil), "p@none.bench"))
	long := regressions.BaselinePath("dir", "T", strings.Repeat("x", 5000), key)
	assert.Less(t, len(filepath.Base(long)), 200)
}

// Different names never share a file, on a file system that tells cases apart.
func FuzzBaselinePath(f *testing.F) {
	f.Add("poisson-4", "poisson~2d4")
	f.Add(".", "~2e")
	f.Add("con", "~63on")
	f.Add("a.", "a~2e")
	f.Add("", "~")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := regressions.BaselinePath("d", "T", a, nil), regressions.BaselinePath("d", "T", b, nil)
		if a != b {
			assert.NotEqual(t, x, y)
		}
		assert.True(t, filepath.IsLocal(x), x)
		assert.Equal(t, filepath.Join("d", "T"), filepath.Dir(x))
	})
}

func TestCountBaselines(t *testing.T) {
	root := t.TempDir()
	touch := func(path string) {
		full := filepath.Join(root, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		require.NoError(t, os.WriteFile(full, nil, 0o666))
	}
	for _, path := range []string{
		"go.mod",
		"perf/testdata/openloop/TestA/poisson-4@1.bench",
		"perf/testdata/openloop/TestA/sub/poisson-4@1.bench",
		"perf/testdata/openloop/TestA/records/run-0.jsonl", // not a baseline
		"other/testdata/openloop/TestB/serial@1.bench",
		"other/testdata/other.bench",                 // not ours
		"vendor/x/testdata/openloop/TestC/a@1.bench", // not this module
		"nested/go.mod", //
		"nested/testdata/openloop/TestD/a@1.bench",         // another module
		".cache/testdata/openloop/TestE/a@1.bench",         // hidden
		"node_modules/y/testdata/openloop/TestF/a@1.bench", // not Go
	} {
		touch(path)
	}
	for _, dir := range []string{"", "perf", "perf/testdata"} {
		n, err := regressions.CountBaselines(filepath.Join(root, dir))
		require.NoError(t, err)
		assert.Equal(t, 3, n, dir)
	}
	n, err := regressions.CountBaselines(filepath.Join(root, "nested"))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	_, err = regressions.CountBaselines(t.TempDir())
	assert.ErrorContains(t, err, "is in no Go module: declare Gate.Gates")
}
