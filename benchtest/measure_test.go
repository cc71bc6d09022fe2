package benchtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
func (r *recorder) Cleanup(func())               {}
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
		assert.EqualError(t, loaded.Extend(t.Context(), 4), "benchtest: these runs were loaded, not measured, so no more can be made")
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
		runs := r.measure(real{quick()}, p)
		require.NotNil(t, runs)
		assert.Equal(t, []string{
			fmt.Sprintf("benchtest: run 1 of 1 at constant 2/s, prompts(16/4), 100 requests a run, seed %016x: about 1m40s of load, 1m40s for all that is left", runs.Records[0].Seed),
			"benchtest: warmup of run 1: 30 requests sent, 0 in flight, about 9.6s left",
			"benchtest: run 1: 30 requests sent, 0 in flight, about 1m0s left",
			"benchtest: run 1: 60 requests sent, 0 in flight, about 45s left",
			"benchtest: run 1: 90 requests sent, 0 in flight, about 30s left",
			"benchtest: run 1: 120 requests sent, 0 in flight, about 15s left",
			"benchtest: run 1: 150 requests sent, 0 in flight, about 100ms left",
			"benchtest: run 1 of 1: 100 requests in a window of 50s, 0 failed",
		}, r.logs)
	})
}

// A server that repeats the key in its error does not put it into a log.
func TestNoSecretIsToldOrKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const key = "sk-0123456789"
		engine := struct {
			*script
			*describer
		}{quick(), &describer{engines.Identity{
			Command:  "serve --api-key " + key + " --port 8000 --max-num-batched-tokens 8192 HF_TOKEN=hf_abc",
			Settings: map[string]string{"api-key": "another", "max-num-batched-tokens": "8192"},
		}}}
		engine.fails = func(n int, r *engines.Request) error {
			if n%2 == 0 {
				return nil
			}
			return &engines.Error{Class: engines.Status, Status: 500, Message: "incorrect key: " + key}
		}
		var logs []string
		o := Options{Config: ci.Config{APIKey: key}, Dir: t.TempDir(), Test: "T", Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }}
		runs, err := Run(t.Context(), engine, usual(), o)
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(o.Dir, "records", "T", "constant-10.jsonl"))
		require.NoError(t, err)
		for _, secret := range []string{key, "another", "hf_abc"} {
			assert.NotContains(t, string(text), secret)
			assert.NotContains(t, strings.Join(logs, "\n"), secret)
		}
		assert.Contains(t, string(text), "incorrect key: (hidden)")
		for _, p := range runs.Records[0].Identity {
			switch p.Key {
			case "command":
				assert.Equal(t, "serve --api-key (hidden) --port 8000 --max-num-batched-tokens 8192 HF_TOKEN=(hidden)", p.Value)
			case "setting-max-num-batched-tokens":
				assert.Equal(t, "8192", p.Value)
			}
		}
	})
	inBubble(t, func(t *testing.T) {
		engine := quick()
		engine.fails = func(int, *engines.Request) error {
			return &engines.Error{Class: engines.Unauthorized, Status: 401, Message: "incorrect key: sk-1"}
		}
		_, err := Run(t.Context(), engine, usual(), Options{Config: ci.Config{APIKey: "sk-1"}})
		assert.EqualError(t, err, "benchtest: the engine is not ready: one small generation: incorrect key: (hidden)")
	})
}

func TestWhatCouldNotBeFoundOutIsListed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := one(t, quick(), usual())
		assert.Equal(t, []string{
			"engine", "engine version or commit", "model revision", "hardware and count", "driver", "CUDA or ROCm", "torch",
			"server command line", "server settings", "server environment", "NUMA pinning", "client host and network", "GPU clocks and temperature",
		}, r.Unrecorded)
	})
	inBubble(t, func(t *testing.T) {
		engine := struct {
			*script
			*describer
		}{quick(), &describer{engines.Identity{
			Engine: "vllm", Version: "0.26", Model: "model", Revision: "abc", Hardware: "1x H100", Command: "vllm serve",
			Settings: map[string]string{"driver": "550", "cuda": "12.4", "torch": "2.9", "env-vllm_server_dev_mode": "1"},
		}}}
		r := one(t, engine, usual())
		assert.Equal(t, []string{"NUMA pinning", "client host and network", "GPU clocks and temperature"}, r.Unrecorded)
	})
}

func TestAnEngineIsMeasuredByOneAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := real{quick()}
		p := usual()
		var logs []string
		done := make(chan *Runs)
		go func() {
			runs, err := Run(t.Context(), engine, p, Options{Test: "TestA"})
			assert.NoError(t, err)
			done <- runs
		}()
		time.Sleep(time.Second)
		runs, err := Run(t.Context(), engine, p, Options{Test: "TestB", Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }})
		require.NoError(t, err)
		first := <-done
		assert.Equal(t, "benchtest: waiting for the engine, which TestA measures", logs[0])
		assert.Equal(t, first.Records[0].StartID, runs.Records[0].StartID, "it is the same start")
		assert.LessOrEqual(t, engine.peak, 1, "never both at once")
		noContentTwice(t, engine.seen)
	})
}
