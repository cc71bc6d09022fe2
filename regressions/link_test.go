package regressions_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A link whose file is gone is found beside itself, as a baseline that is
// there and cannot be read. Describing it must not look for what is beside it
// again.
func TestLinksToBaselines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	link, file := filepath.Join(dir, "p@key.bench"), filepath.Join(dir, "elsewhere")
	require.NoError(t, os.Symlink(file, link))
	_, err := regressions.ReadBaseline(link)
	assert.EqualError(t, err, "regressions: reading the baseline: "+link+" is a link to "+file+", where there is nothing")
	assert.NotErrorIs(t, err, regressions.ErrNoBaseline)
	assert.ErrorContains(t, regressions.WriteBaseline(link, full(), false), "it is not overwritten: move it away first")
	_, err = regressions.ReadBaseline(filepath.Join(dir, "q@key.bench"))
	assert.ErrorIs(t, err, regressions.ErrNoBaseline)
	assert.ErrorContains(t, err, "p@key.bench (unreadable)")

	// What it leads to is what is replaced.
	require.NoError(t, regressions.WriteBaseline(file, full(), false))
	b := full()
	b.Commit = "another"
	require.NoError(t, regressions.WriteBaseline(link, b, true))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "the link stays")
	got, err := regressions.ReadBaseline(file)
	require.NoError(t, err)
	assert.Equal(t, "another", got.Commit)
}

// A checkout on Windows may turn line ends; files from before sums have none.
func TestBaselinesThatAreTheSame(t *testing.T) {
	data, err := regressions.Format(full())
	require.NoError(t, err)
	text := string(data)
	bare := text[:strings.Index(text, " sum=")] + "\n"
	for _, same := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), strings.TrimRight(text, "\n"), bare} {
		got, err := regressions.Parse([]byte(same), "same")
		require.NoError(t, err)
		assert.Equal(t, full(), got)
	}
}
