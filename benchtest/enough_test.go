package benchtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
)

// Nothing is judged on runs of which one is invalid, so none is made after it:
// not for a look that extends them, nor for a baseline.
func TestNoRunFollowsOneThatCannotBeTrusted(t *testing.T) {
	broken := &engines.Error{Class: engines.ServerError, Message: "made up"}
	const why = " cannot be trusted, so no further run is made: no-data: none of 100 requests of the window succeeded (first failure: server-error: made up)"
	t.Run("a first look is made as it was asked for", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			runs, err := Run(t.Context(), tries(of(), of(2), broken), fourRuns(), Options{})
			require.NoError(t, err)
			assert.Len(t, runs.Records, 4)
		})
	})
	t.Run("an extension ends with an error", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			runs, err := Run(t.Context(), tries(of(), of(6), broken), fourRuns(), Options{})
			require.NoError(t, err)
			assert.EqualError(t, runs.Extend(t.Context(), 12), "benchtest: run 6 of 12"+why)
			assert.Len(t, runs.Records, 6)
		})
	})
	t.Run("an update does not go on", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			var logs []string
			o := Options{Config: ci.Config{Update: true}, Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }}
			runs, err := Run(t.Context(), tries(of(), of(2), broken), fourRuns(), o)
			require.NoError(t, err)
			assert.Len(t, runs.Records, 2)
			assert.Contains(t, logs, "benchtest: run 2 of 4"+why)
		})
	})
	t.Run("two engines in turns", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := fourRuns()
			p.Starts = 1
			control, candidate, err := RunBoth(t.Context(), tries(of(), of(), nil), tries(of(), of(6), broken), p, Options{})
			require.NoError(t, err)
			assert.EqualError(t, candidate.Extend(t.Context(), 12), "benchtest: candidate run 6 of 12"+why)
			assert.Len(t, candidate.Records, 6)
			assert.Len(t, control.Records, 6, "it went first in the sixth pair")
		})
	})
}
