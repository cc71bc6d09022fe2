package benchtest

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// counting is an engine that computes at once, logs its runs and restarts, and
// says what it has served.
type counting struct {
	*script
	name     string
	log      *[]string
	restarts int
	broken   error
	served   *int
	// mu is held where the log and what was served are touched: requests are
	// served concurrently.
	mu *sync.Mutex
}

func (c *counting) Restart(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restarts++
	*c.log = append(*c.log, c.name+" restarts")
	return c.broken
}

func (c *counting) Scrape(context.Context) (engines.Counters, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return engines.Counters{PromptTokens: engines.Known(*c.served)}, nil
}

func (c *counting) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	c.mu.Lock()
	if n := len(*c.log); n == 0 || (*c.log)[n-1] != c.name {
		*c.log = append(*c.log, c.name)
	}
	*c.served += len(r.Tokens)
	c.mu.Unlock()
	return c.script.Generate(ctx, r, emit)
}

func twins(log *[]string) (control, candidate *counting) {
	mu := &sync.Mutex{}
	return &counting{script: quick(), name: "control", log: log, served: new(int), mu: mu},
		&counting{script: quick(), name: "candidate", log: log, served: new(int), mu: mu}
}

func threeRuns() Point {
	p := usual()
	p.Runs = 3
	return p
}

func TestBothTakeTurns(t *testing.T) {
	for _, row := range []struct {
		name   string
		starts int
		want   []string
	}{
		{"each run on a start of its own", 0, []string{
			"control", "candidate",
			"candidate restarts", "candidate", "control restarts", "control",
			"candidate restarts", "candidate", "control restarts", "control",
			"control restarts", "control", "candidate restarts", "candidate",
		}},
		{"one start, since the point says so", 1, []string{"control", "candidate", "control", "candidate", "control", "candidate"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := inFolder(t)
			inBubble(t, func(t *testing.T) {
				var log []string
				control, candidate := twins(&log)
				p := threeRuns()
				p.Starts = row.starts
				old, now, err := RunBoth(t.Context(), control, candidate, p, Options{Test: "T", Dir: dir})
				require.NoError(t, err)
				require.NoError(t, now.Extend(t.Context(), 4))
				assert.Equal(t, row.want, log)
				require.Len(t, old.Records, 4)
				require.Len(t, now.Records, 4)
				assert.Same(t, old, now.Control)
				for i, r := range now.Records {
					c := old.Records[i]
					assert.Equal(t, metric.ArmCandidate, r.Arm)
					assert.Equal(t, metric.ArmControl, c.Arm)
					assert.Equal(t, c.Seed, r.Seed)
					assert.Equal(t, c.Run, r.Run)
					assert.Empty(t, r.Problems)
				}
				for _, name := range []string{"constant-10", "constant-10@control"} {
					kept, err := Load(filepath.Join(dir, "records", "T", name+".jsonl"))
					require.NoError(t, err)
					assert.Len(t, kept.Records, 4, name)
				}
			})
		})
	}
}

// Extending the control extends both, and what an error has cut short is made
// up for.
func TestBothGoOnWhereTheyStopped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log []string
		control, candidate := twins(&log)
		control.broken = errors.New("exited with code 1")
		old, now, err := RunBoth(t.Context(), control, candidate, threeRuns(), Options{})
		assert.EqualError(t, err, "benchtest: restart the engine: exited with code 1")
		assert.Len(t, old.Records, 1)
		assert.Len(t, now.Records, 2)
		control.broken = nil
		require.NoError(t, old.Extend(t.Context(), 3))
		assert.Len(t, old.Records, 3)
		assert.Len(t, now.Records, 3)
	})
}

func TestBothRefuseWhatIsNoComparison(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log []string
		control, candidate := twins(&log)
		shared := *candidate
		shared.served = control.served
		closed := usual()
		closed.Requests = 0
		for _, row := range []struct {
			name         string
			old, now     engines.Engine
			p            Point
			want         string
			measuredRuns int
		}{
			{"the same engine", control, control, usual(), "benchtest: control and candidate are the same engine, so nothing would be compared: start the other build beside it", 0},
			{"no control", nil, candidate, usual(), "benchtest: the engine must be set, got nil: start one or attach to one (control)", 0},
			{"no candidate", control, nil, usual(), "benchtest: the engine must be set, got nil: start one or attach to one (candidate)", 0},
			{"a real clock beside a virtual one", control, real{quick()}, usual(), "benchtest: control (*benchtest.counting) and candidate (benchtest.real) do not share a clock, so they cannot be measured in turns: use two engines of a kind", 0},
			{"one server behind both", control, &shared, usual(), "the control served 3216 prompt tokens while only the candidate was measured: both are the same server, or something else uses it: give each arm a server of its own", 1},
		} {
			old, _, err := RunBoth(t.Context(), row.old, row.now, row.p, Options{})
			require.ErrorContains(t, err, row.want, row.name)
			assert.Len(t, old.Records, row.measuredRuns, row.name)
		}
		_, _, err := RunBoth(t.Context(), control, candidate, closed, Options{})
		assert.ErrorContains(t, err, "Point.")
	})
}

// Two measurements of the same engines in opposite roles do not wait for each
// other for ever.
func TestBothHoldTheirEngines(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := real{quick()}, real{quick()}
		p := usual()
		p.Runs = 1
		done := make(chan error, 2)
		for _, arms := range [][2]real{{a, b}, {b, a}} {
			go func() {
				_, _, err := RunBoth(t.Context(), arms[0], arms[1], p, Options{})
				done <- err
			}()
		}
		begun := time.Now()
		require.NoError(t, <-done)
		first := time.Since(begun)
		require.NoError(t, <-done)
		assert.Equal(t, 2*first, time.Since(begun), "one after the other")
	})
}

func TestMeasureBothFailsTheTestAtOnce(t *testing.T) {
	inFolder(t)
	inBubble(t, func(t *testing.T) {
		both := func(r *recorder, p Point) (old, now *Runs) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				old, now = MeasureBoth(r, real{quick()}, real{quick()}, p)
			}()
			<-done
			return old, now
		}
		p := threeRuns()
		p.Arrivals = arrival.Constant{Rate: 1}
		r := &recorder{name: "T", ctx: t.Context(), deadline: time.Now().Add(10 * time.Minute)}
		both(r, p)
		assert.True(t, r.stopped)
		require.Len(t, r.errors, 1)
		assert.Contains(t, r.errors[0], "benchtest: needs 25m54s at most for 6 runs")
		assert.Empty(t, r.logs)

		r = &recorder{name: "T", ctx: t.Context()}
		p.Arrivals = usual().Arrivals
		old, now := both(r, p)
		assert.Empty(t, r.errors)
		assert.Len(t, old.Records, 3)
		assert.True(t, now.Extendable())
		require.NotEmpty(t, r.logs)
		assert.Contains(t, r.logs[0], "benchtest: control run 1 of 3 at constant 10/s")
	})
}
