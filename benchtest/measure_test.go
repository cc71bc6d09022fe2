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
// cut, the finished ones stay, and some time is left to stop the engine.
func TestTimeThatRunsOutCutsTheRun(t *testing.T) {
	inFolder(t)
	inBubble(t, func(t *testing.T) {
		begun := time.Now()
		r := &recorder{name: "T", ctx: t.Context(), deadline: begun.Add(400 * time.Second)}
		engine := real{&script{first: time.Second}}
		assert.Nil(t, r.measure(engine, Point{Workload: prompts{16, 1}, Closed: Closed{InFlight: 1}, Requests: 150}))
		assert.Equal(t, 380*time.Second, time.Since(begun).Round(time.Second))
		assert.Equal(t, []string{"benchtest: run 2 of 3: the test's time is over in 20s: raise -timeout"}, r.errors)
		loaded, err := Load(filepath.FromSlash("testdata/openloop/records/T/serial.jsonl"))
		require.NoError(t, err)
		require.Len(t, loaded.Records, 2)
		assert.Empty(t, loaded.Records[0].Problems)
		cut := loaded.Records[1]
		require.Len(t, kinds(cut), 1)
		assert.Equal(t, "the run was cut short in its window, after 29 requests: the test's time is over in 20s: raise -timeout", cut.Problems[0].Text)
	})
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
