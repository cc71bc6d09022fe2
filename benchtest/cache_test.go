package benchtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A test that measures is run each time it is asked for; one that does not is
// served from the cache, or this test would show nothing.
func TestGoTestNeverCachesAMeasurement(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary; -short is set")
	}
	t.Cleanup(func() { os.RemoveAll(filepath.FromSlash("testdata/nevercached/testdata")) })
	goTest := func(run string) string {
		out, err := exec.Command("go", "test", "-run", run, "./testdata/nevercached").CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	for range 3 {
		assert.NotContains(t, goTest("^TestMeasures$"), "(cached)")
	}
	goTest("^TestMeasuresNothing$")
	assert.Contains(t, goTest("^TestMeasuresNothing$"), "(cached)")
}

// The file that keeps a result out of the cache is younger than two seconds
// for as long as a test may go on.
func TestTheMarkerStaysYoung(t *testing.T) {
	inFolder(t)
	neverCached()
	info, err := os.Stat(filepath.FromSlash("testdata/openloop/records/.never-cached"))
	require.NoError(t, err)
	assert.Less(t, time.Since(info.ModTime()), -23*time.Hour)
}

// Nothing of a measurement is to be committed.
func TestRecordsIgnoreThemselves(t *testing.T) {
	dir := inFolder(t)
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git init: %v: %s", err, out)
	}
	neverCached()
	s, err := openStore(defaultDir, "T", "p")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.path, []byte("{}\n"), 0o666))
	out, err := exec.Command("git", "-C", dir, "status", "--porcelain", "-uall").CombinedOutput()
	require.NoError(t, err)
	assert.Empty(t, strings.TrimSpace(string(out)))
}
