package regressions_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/require"
)

// The score is that of assert.NoRegression: with a baseline in a file and runs
// that it extends by itself, it says what the score's job says of a build, in
// as many runs.
func TestScoreIsThatOfNoRegression(t *testing.T) {
	t.Chdir(t.TempDir())
	base := newBuild(mutant{}.config(usual.noise(), 1), false)
	stored, err := base.measure(t.Context(), third, baselineRuns, baselineStarts)
	require.NoError(t, err)
	arm, err := regressions.FromRecords(stored, nil)
	require.NoError(t, err)
	path := regressions.BaselinePath(filepath.Join("testdata", "openloop"), arm.Test, arm.PointName, arm.Key)
	require.NoError(t, regressions.WriteBaseline(path, &regressions.Baseline{Arm: arm}, false))

	for _, m := range mutants[2:6] { // decode 5, 8, 10 and 15 % slower
		for seed := range uint64(2) {
			says := ours.noRegression(t.Context(), third, base, newBuild(m.config(usual.noise(), seed), false))
			cand := newBuild(m.config(usual.noise(), seed), false)
			_, err := cand.measure(t.Context(), third, 3, 1)
			require.NoError(t, err)
			var heard told
			green := assert.NoRegression(&heard, cand.at[third.name], ours.gate)
			require.Equal(t, says.status.Green(), green, m.name)
			require.True(t, strings.HasPrefix(heard.text, string(says.status)+": "), "%s: %s, not %s", m.name, heard.text, says.status)
			require.Len(t, cand.at[third.name].Records, says.runs, m.name)
		}
	}
}

// told is a test that keeps what assertions say, green or not.
type told struct{ spoken }

func (s *told) Logf(format string, args ...any) { s.Errorf(format, args...) }
