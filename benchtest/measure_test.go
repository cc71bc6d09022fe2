package benchtest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
)

// recorder is a T that keeps what it is told.
type recorder struct {
	ctx      context.Context
	name     string
	deadline time.Time
	logs     []string
	errors   []string
	stopped  bool
}

func (r *recorder) Helper()                      {}
func (r *recorder) Name() string                 { return r.name }
func (r *recorder) Logf(format string, a ...any) { r.logs = append(r.logs, fmt.Sprintf(format, a...)) }
func (r *recorder) Errorf(f string, a ...any)    { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }
func (r *recorder) FailNow()                     { r.stopped = true; runtime.Goexit() }
func (r *recorder) Context() context.Context     { return r.ctx }
func (r *recorder) Deadline() (time.Time, bool)  { return r.deadline, !r.deadline.IsZero() }
func (r *recorder) measure(e engines.Engine, p Point) (runs *Runs) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runs = Measure(r, e, p)
	}()
	<-done
	return runs
}

// real is an engine that does not say that its time may be virtual, so that
// deadlines and budgets count.
type real struct{ *script }

func (real) VirtualTime() bool { return false }

func inFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	return dir
}

func TestMeasureRefusesBeforeAnythingStarts(t *testing.T) {
	usual := func() Point {
		return Point{Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 1}, Requests: 300}
	}
	for _, c := range []struct {
		name  string
		env   map[string]string
		setup func(*recorder, *Point)
		want  string
	}{
		{"a point that is not valid", nil, func(_ *recorder, p *Point) { p.Requests = 0 },
			"benchtest: exactly one of Point.Requests and Point.Window must be set, got neither: as in Requests: 300"},
		{"a plan that the deadline does not hold", nil, func(r *recorder, _ *Point) { r.deadline = time.Now().Add(10 * time.Minute) },
			"benchtest: needs 22m57s at most for 3 runs (a drain of 1m0s each included), and the test's time is over in 10m0s: raise -timeout, or lower Point.Runs, the size of a run or Point.Drain"},
		{"a plan that the budget does not hold", map[string]string{"OPENLOOP_BUDGET": "5m"}, func(*recorder, *Point) {},
			"benchtest: needs 22m57s at most for 3 runs (a drain of 1m0s each included), and the budget is over in 5m0s: raise OPENLOOP_BUDGET, or lower Point.Runs, the size of a run or Point.Drain"},
		{"a baseline that the deadline does not hold, although three runs fit", map[string]string{"OPENLOOP_UPDATE": "1", "OPENLOOP_UPDATE_IN_CI": "1"},
			func(r *recorder, _ *Point) { r.deadline = time.Now().Add(30 * time.Minute) },
			"benchtest: needs 1h31m48s at most for 12 runs of a baseline (a drain of 1m0s each included), and the test's time is over in 30m0s: raise -timeout, or lower OPENLOOP_RUNS, the size of a run or Point.Drain"},
		{"a configuration that is not valid", map[string]string{"OPENLOOP_RUNS": "-1"}, func(*recorder, *Point) {},
			`ci: OPENLOOP_RUNS is "-1": must be a whole number, 0 or more`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t)
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			inBubble(t, func(t *testing.T) {
				r, p, engine := &recorder{name: "T", ctx: t.Context()}, usual(), real{quick()}
				c.setup(r, &p)
				assert.Nil(t, r.measure(engine, p))
				assert.Equal(t, []string{c.want}, r.errors)
				assert.True(t, r.stopped)
				assert.Empty(t, engine.seen, "nothing was sent")
			})
		})
	}
}

// Virtual time knows no deadline: in a bubble the method is there and panics.
func TestVirtualTimeHasNoDeadline(t *testing.T) {
	inFolder(t)
	inBubble(t, func(t *testing.T) {
		runs := Measure(t, quick(), usual())
		assert.Empty(t, runs.Records[0].Problems)
	})
}

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

// However many runs the configuration asks for, they are made, spread over two
// starts where they are more than a first look or become a baseline.
func TestRunsOfTheConfiguration(t *testing.T) {
	type restartable struct {
		*script
		*restarter
	}
	can, cannot := engines.Engine(restartable{quick(), &restarter{}}), engines.Engine(quick())
	update, add := ci.Config{Update: true}, ci.Config{Update: true, Append: true}
	for _, c := range []struct {
		name                   string
		engine                 engines.Engine
		config                 ci.Config
		set, points            int // OPENLOOP_RUNS, and Point.Starts
		runs, starts, baseline int
	}{
		{"nothing is said", can, ci.Config{}, 0, 0, 3, 1, 0},
		{"one", can, ci.Config{}, 1, 0, 1, 1, 0},
		{"two", can, ci.Config{}, 2, 0, 2, 1, 0},
		{"twelve", can, ci.Config{}, 12, 0, 12, 2, 0},
		{"a hundred", can, ci.Config{}, 100, 0, 100, 2, 0},
		{"twelve, and the point wants one start", can, ci.Config{}, 12, 1, 12, 1, 0},
		{"twelve on an engine that cannot be restarted", cannot, ci.Config{}, 12, 0, 12, 1, 0},
		{"two, and the point wants three starts", can, ci.Config{}, 2, 3, 2, 2, 0},
		{"a baseline", can, update, 0, 0, 3, 1, 12},
		{"a baseline of three", can, update, 3, 0, 3, 2, 3},
		{"of twelve", can, update, 12, 0, 12, 2, 12},
		{"of a hundred", can, update, 100, 0, 100, 2, 100},
		{"of twelve on an engine that cannot be restarted", cannot, update, 12, 0, 12, 1, 12},
		{"one more for a baseline", can, add, 1, 0, 1, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := usual()
			p.Runs, p.Starts = 0, c.points
			if c.points > 0 {
				p.Runs = c.points
			}
			c.config.Runs = c.set
			s, err := newSession(c.engine, p, Options{Config: c.config})
			require.NoError(t, err)
			got := [3]int{s.plan.Point.Runs, s.plan.Point.Starts, s.baseline}
			assert.Equal(t, [3]int{c.runs, c.starts, c.baseline}, got, "runs, starts, of a baseline")
		})
	}
}

func TestMeasureTellsHowFarItIs(t *testing.T) {
	inFolder(t)
	inBubble(t, func(t *testing.T) {
		r := &recorder{name: "T", ctx: t.Context()}
		p := usual()
		p.Arrivals = arrival.Constant{Rate: 2}
		p.Limits.Lag = time.Hour // goroutines wait by the real clock
		runs := r.measure(real{quick()}, p)
		require.NotNil(t, runs)
		last := len(r.logs) - 1
		assert.Regexp(t, "^benchtest: run 1: client ok: requests left 0s late \\(p99 of 100\\), limit 1h0m0s; .*CPUs busy", r.logs[last])
		assert.Equal(t, []string{
			fmt.Sprintf("benchtest: run 1 of 1 at constant 2/s, prompts(16/4), 100 requests a run, seed %016x: about 1m40s of load, 1m40s for all that is left", runs.Records[0].Seed),
			"benchtest: warmup of run 1: 30 requests sent, 0 in flight, about 9.6s left",
			"benchtest: run 1: 30 requests sent, 0 in flight, about 1m0s left",
			"benchtest: run 1: 60 requests sent, 0 in flight, about 45s left",
			"benchtest: run 1: 90 requests sent, 0 in flight, about 30s left",
			"benchtest: run 1: 120 requests sent, 0 in flight, about 15s left",
			"benchtest: run 1: 150 requests sent, 0 in flight, about 100ms left",
			"benchtest: run 1 of 1: 100 requests in a window of 50s, 0 failed",
		}, r.logs[:last])
	})
}
