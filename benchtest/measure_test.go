package benchtest

import (
	"context"
	"fmt"
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
		assert.Regexp(t, "^benchtest: run 1: client unknown: how late this process wakes up was not read in the window; requests left 0s late \\(p99 of 100\\), limit 1h0m0s; ", r.logs[last], "nobody wakes in a bubble")
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
