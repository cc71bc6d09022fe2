package benchtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStarts(t *testing.T) {
	type restartable struct {
		*script
		*restarter
	}
	starts := func(r *Runs) (out []int) {
		for _, r := range r.Records {
			out = append(out, r.Start)
		}
		return out
	}
	t.Run("as the point says", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Runs, p.Starts = 5, 2
			runs, err := Run(t.Context(), restartable{quick(), &restarter{}}, p, Options{})
			require.NoError(t, err)
			assert.Equal(t, []int{0, 0, 0, 1, 1}, starts(runs))
			assert.NotEqual(t, runs.Records[2].StartID, runs.Records[3].StartID)
			assert.Equal(t, runs.Records[3].StartID, runs.Records[4].StartID)
		})
	})
	t.Run("extended over more", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Runs = 3
			engine := restartable{quick(), &restarter{}}
			runs, err := Run(t.Context(), engine, p, Options{})
			require.NoError(t, err)
			require.True(t, runs.Extendable())
			require.NoError(t, runs.ExtendOver(t.Context(), 12, 2))
			assert.Equal(t, []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, starts(runs))
			assert.Equal(t, 1, engine.restarts)
			require.NoError(t, runs.Extend(t.Context(), 13))
			assert.Equal(t, 1, runs.Records[12].Start)
		})
	})
	t.Run("an engine that cannot be restarted", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Starts = 1
			runs, err := Run(t.Context(), quick(), p, Options{})
			require.NoError(t, err)
			require.NoError(t, runs.ExtendOver(t.Context(), 4, 2))
			assert.Equal(t, []int{0, 0, 0, 0}, starts(runs))
			p.Runs, p.Starts = 2, 2
			_, err = Run(t.Context(), quick(), p, Options{})
			assert.EqualError(t, err, "benchtest: Point.Starts is 2, and this engine (*benchtest.script) cannot be restarted: use 1, or start the engine here instead of attaching")
		})
	})
}
