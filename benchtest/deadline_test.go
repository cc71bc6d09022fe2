package benchtest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/ci"
)

// A closed loop's length is not known beforehand. When time is up, the run is
// cut, what there is of it is on disk, and some time is left to stop the engine.
func TestTimeThatRunsOutCutsTheRun(t *testing.T) {
	inFolder(t)
	inBubble(t, func(t *testing.T) {
		begun := time.Now()
		r := &recorder{name: "T", ctx: t.Context(), deadline: begun.Add(200 * time.Second)}
		engine := real{&script{first: time.Second}}
		assert.Nil(t, r.measure(engine, Point{Workload: prompts{16, 1}, Closed: Closed{InFlight: 1}, Requests: 150}))
		assert.Equal(t, 190*time.Second, time.Since(begun).Round(time.Second))
		assert.Equal(t, []string{"benchtest: run 1 of 3: the test's time is over in 10s: raise -timeout"}, r.errors)
		loaded, err := Load(filepath.FromSlash("testdata/openloop/records/T/serial.jsonl"))
		require.NoError(t, err)
		require.Len(t, loaded.Records, 1)
		cut := loaded.Records[0]
		require.Len(t, kinds(cut), 1)
		assert.Equal(t, "the run was cut short in its window, after 89 requests: the test's time is over in 10s: raise -timeout", cut.Problems[0].Text)
	})
}

// After the first run its length is known, and none is begun that must be cut.
// The finished ones stay.
func TestNoRunBeginsThatCannotEndInTime(t *testing.T) {
	const tooLong = "benchtest: stopped before run 2 of 3: what is left takes 8m20s or more, and the test's time is over in 5m49s: raise -timeout, or make fewer or smaller ones"
	for _, c := range []struct {
		name     string
		deadline time.Duration
		env      string
		runs     int
		want     string
	}{
		{"three runs of a closed loop", 600 * time.Second, "", 1, tooLong},
		{"a baseline of a closed loop", 1000 * time.Second, "1", 1,
			"benchtest: stopped before run 2 of 12: what is left takes 45m52s or more, and the test's time is over in 12m29s: raise -timeout, or make fewer or smaller ones"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t)
			t.Setenv("OPENLOOP_UPDATE", c.env)
			t.Setenv("OPENLOOP_UPDATE_IN_CI", c.env)
			inBubble(t, func(t *testing.T) {
				r := &recorder{name: "T", ctx: t.Context(), deadline: time.Now().Add(c.deadline)}
				assert.Nil(t, r.measure(real{&script{first: time.Second}}, Point{Workload: prompts{16, 1}, Closed: Closed{InFlight: 1}, Requests: 150}))
				assert.Equal(t, []string{c.want}, r.errors)
				loaded, err := Load(filepath.FromSlash("testdata/openloop/records/T/serial.jsonl"))
				require.NoError(t, err)
				assert.Len(t, loaded.Records, c.runs)
			})
		})
	}
}

// slowStart is an engine that takes its time to start again.
type slowStart struct {
	real
	takes time.Duration
}

func (e slowStart) Restart(context.Context) error {
	time.Sleep(e.takes)
	return nil
}

// A restart is not in the plan, which does not know what it takes: what it leaves
// no time for is not begun.
func TestARestartThatTakesTheTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := usual()
		p.Runs, p.Starts, p.Limits.Lag = 4, 4, time.Hour
		engine := slowStart{real{quick()}, 140500 * time.Millisecond}
		runs, err := Run(t.Context(), engine, p, Options{Config: ci.Config{Budget: 6 * time.Minute}})
		assert.EqualError(t, err, "benchtest: stopped before run 4 of 4: what is left takes 20s or more, and the budget is over in 18s: raise OPENLOOP_BUDGET, or make fewer or smaller ones")
		assert.Len(t, runs.Records, 3)
	})
}

// A later look is refused before its first run.
func TestALookThatDoesNotFit(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := usual()
		p.Runs, p.Limits.Lag = 3, time.Hour
		engine := real{quick()}
		runs, err := Run(t.Context(), engine, p, Options{Config: ci.Config{Budget: 5 * time.Minute}})
		require.NoError(t, err)
		sent := len(engine.seen)
		require.ErrorContains(t, runs.Extend(t.Context(), 12), "benchtest: needs 11m59s at most for 9 runs (a drain of 1m0s each included), and the budget is over in 4m0s: raise OPENLOOP_BUDGET")
		assert.Len(t, runs.Records, 3)
		assert.Len(t, engine.seen, sent, "nothing was sent")
	})
}
