package benchtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMeasureKeepsItsRecords(t *testing.T) {
	inFolder(t)
	r := &recorder{name: "TestX/with a sub:test"}
	inBubble(t, func(t *testing.T) {
		r.ctx = t.Context()
		p := usual()
		p.Runs = 2
		runs := r.measure(quick(), p)
		require.NotNil(t, runs)
		assert.Empty(t, r.errors)
		require.NoError(t, runs.Extend(t.Context(), 3))
		path := filepath.FromSlash("testdata/openloop/records/TestX/with-a-sub-test/constant-10.jsonl")
		loaded, err := Load(path)
		require.NoError(t, err)
		require.Len(t, loaded.Records, 3)
		assert.False(t, loaded.Extendable())
		assert.EqualError(t, loaded.Extend(t.Context(), 4), "benchtest: these runs were loaded, not measured, so no more can be made: measure the point again")
		for i := range loaded.Records {
			for k := range runs.Records[i].Requests {
				runs.Records[i].Requests[k].Gaps = nil // a file keeps their summary
			}
			assert.Equal(t, runs.Records[i], loaded.Records[i])
		}
		assert.Equal(t, "TestX/with a sub:test", loaded.Records[0].Test)
		ignored, err := os.ReadFile("testdata/openloop/records/.gitignore")
		require.NoError(t, err)
		assert.Equal(t, "*\n", string(ignored))
	})
	inBubble(t, func(t *testing.T) { // a second measurement of the same process appends
		r.ctx = t.Context()
		r.measure(quick(), usual())
		loaded, err := Load(filepath.FromSlash("testdata/openloop/records/TestX/with-a-sub-test/constant-10.jsonl"))
		require.NoError(t, err)
		assert.Len(t, loaded.Records, 4)
	})
}

// What an earlier process measured stays one measurement long.
func TestRecordsOfAnEarlierProcessAreSetAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "records", "TestX", "p.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte("older\n"), 0o666))
	s, err := openStore(dir, "TestX", "p")
	require.NoError(t, err)
	require.NoError(t, s.append(good()))
	older, err := os.ReadFile(filepath.Join(dir, "records", "TestX", "p.previous.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, "older\n", string(older))
	_, err = openStore(dir, "TestX", "p")
	require.NoError(t, err)
	records, err := Load(path)
	require.NoError(t, err)
	assert.Len(t, records.Records, 1)
}

// A measurement that was called off before its first run leaves no run behind,
// and takes none away.
func TestACalledOffMeasurementKeepsEarlierRecords(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "records", "TestX")
	require.NoError(t, os.MkdirAll(folder, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "p.previous.jsonl"), []byte("older\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "p.jsonl"), nil, 0o666))
	_, err := openStore(dir, "TestX", "p")
	require.NoError(t, err)
	older, err := os.ReadFile(filepath.Join(folder, "p.previous.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, "older\n", string(older))
	assert.NoFileExists(t, filepath.Join(folder, "p.jsonl"), "a file without a run")
}

func TestFileNames(t *testing.T) {
	long := strings.Repeat("x", 300)
	for in, want := range map[string]string{
		"TestA":    "TestA",
		"a_b-c.d":  "a_b-c.d",
		"a:b*?\"c": "a-b---c",
		"..":       "--",
		"grün":     "gr-n",
		"":         "",
		long:       fmt.Sprintf("%s-%016x", long[:100], derive(long)),
	} {
		assert.Equal(t, want, fileName(in))
	}
}

func TestLoadRefusesWhatIsNoRecord(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		path := filepath.Join(dir, "r.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	_, err := Load(filepath.Join(dir, "none.jsonl"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = Load(write(""))
	assert.ErrorContains(t, err, "r.jsonl: corrupt record: line 1: the file has no records")
	_, err = Load(write(`{"schema":1,"from":`))
	assert.ErrorContains(t, err, "benchtest: load records from")
}

func TestAReadOnlyCheckoutIsSeenBeforeTheLoad(t *testing.T) {
	dir := inFolder(t)
	// A file where the folder should be cannot be written into by anybody.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "testdata"), nil, 0o666))
	inBubble(t, func(t *testing.T) {
		r, engine := &recorder{name: "T", ctx: t.Context()}, quick()
		assert.Nil(t, r.measure(engine, usual()))
		require.Len(t, r.errors, 1)
		assert.Contains(t, r.errors[0], "benchtest: records cannot be written: mkdir testdata")
		assert.Contains(t, r.errors[0], "set OPENLOOP_ARTIFACTS to a folder that is")
		assert.Empty(t, engine.seen)
	})
	elsewhere := t.TempDir()
	t.Setenv("OPENLOOP_ARTIFACTS", elsewhere)
	inBubble(t, func(t *testing.T) {
		r := &recorder{name: "T", ctx: t.Context()}
		assert.NotNil(t, r.measure(quick(), usual()))
		assert.FileExists(t, filepath.Join(elsewhere, "records", "T", "constant-10.jsonl"))
	})
}
