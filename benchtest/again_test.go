package benchtest

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
)

// tries is an engine on a clock that counts as real, of which some tries of runs
// send every request 1.2 s late, and some fail every one. Tries count from
// 1, those made again included.
func tries(late, failing func(try int) bool, failure error) real {
	var mu sync.Mutex
	try := 0
	e := quick()
	e.sends = func(n int) {
		e.mu.Lock()
		id := e.seen[n].ID
		e.mu.Unlock()
		mu.Lock()
		if strings.HasSuffix(id, "m-0000000") {
			try++
		}
		slow := strings.Contains(id, "m-") && late(try)
		mu.Unlock()
		if slow {
			time.Sleep(1200 * time.Millisecond)
		}
	}
	e.fails = func(n int, r *engines.Request) error {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(r.ID, "m-") && failing(try) {
			return failure
		}
		return nil
	}
	return real{e}
}

// of is true of the tries that it is given.
func of(tries ...int) func(int) bool {
	return func(try int) bool {
		for _, t := range tries {
			if t == try {
				return true
			}
		}
		return false
	}
}

// fourRuns allow of lateness what this process's own goroutines may be late by
// the real clock.
func fourRuns() Point {
	p := usual()
	p.Runs = 4
	p.Limits.Lag = time.Second
	return p
}

func always(int) bool { return true }

// A run that is invalid because this host was late is made again: with the same
// work, other content, at most once, and twice in a measurement.
func TestARunIsMadeAgain(t *testing.T) {
	broken := &engines.Error{Class: engines.ServerError, Message: "made up"}
	for _, c := range []struct {
		name          string
		late, failing func(int) bool
		failure       error
		// of runs, from 1
		replaced, invalid []int
	}{
		{"late once", of(2), of(), nil, []int{2}, nil},
		{"late in two runs", of(1, 5), of(), nil, []int{1, 4}, nil},
		{"late in three: the third stays as it is", of(1, 3, 5), of(), nil, []int{1, 2}, []int{3}},
		{"late again: no other is tried", of(2, 3, 5), of(), nil, []int{2}, []int{2, 4}},
		{"late always", always, of(), nil, []int{1}, []int{1, 2, 3, 4}},
		{"errors are the engine's", of(), of(2), broken, nil, []int{2}},
		{"late, with errors", of(2), of(2), broken, nil, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := inFolder(t)
			inBubble(t, func(t *testing.T) {
				engine := tries(c.late, c.failing, c.failure)
				p := fourRuns()
				runs, err := Run(t.Context(), engine, p, Options{Test: "T", Dir: dir, Again: true})
				require.NoError(t, err)
				require.Len(t, runs.Records, 4)
				var invalid, replaced []int
				for i, r := range runs.Records {
					assert.Equal(t, i, r.Run)
					assert.Equal(t, pairSeed(p.Hash(), 0, i), r.Seed)
					if !r.Valid() {
						invalid = append(invalid, i+1)
					}
				}
				for _, r := range runs.Replaced {
					assert.False(t, r.Valid())
					assert.Equal(t, runs.Records[r.Run].Seed, r.Seed, "the same work")
					replaced = append(replaced, r.Run+1)
				}
				assert.Equal(t, c.invalid, invalid)
				assert.Equal(t, c.replaced, replaced)
				noContentTwice(t, engine.seen)

				kept, err := Load(filepath.Join(dir, "records", "T", "constant-10.jsonl"))
				require.NoError(t, err)
				assert.Len(t, kept.Records, 4)
				aside, err := Load(filepath.Join(dir, "records", "T", "constant-10@replaced.jsonl"))
				if c.replaced == nil {
					assert.Error(t, err, "no such file")
					return
				}
				require.NoError(t, err)
				assert.Len(t, aside.Records, len(c.replaced))
			})
		})
	}
}

// It is said at once, and where the record went.
func TestARunThatIsMadeAgainIsTold(t *testing.T) {
	dir := inFolder(t)
	inBubble(t, func(t *testing.T) {
		var logs []string
		p := fourRuns()
		p.Runs = 1
		_, err := Run(t.Context(), tries(of(1), of(), nil), p, Options{Dir: dir, Test: "T", Again: true, Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }})
		require.NoError(t, err)
		text := strings.Join(logs, "\n")
		assert.Contains(t, text, "benchtest: run 1 is invalid: client-limited: requests left 1.2s late (p99 of sent − scheduled over 100), limit 1s: this host could not send on time")
		assert.Contains(t, text, "benchtest: run 1 is made again, since this host was late, which may pass (1 of at most 2 runs): its record is kept in "+
			filepath.Join(dir, "records", "T", "constant-10@replaced.jsonl"))
	})
}

func TestWhatIsNotMadeAgain(t *testing.T) {
	t.Run("in virtual time nothing passes", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			runs, err := Run(t.Context(), tries(of(2), of(), nil).script, fourRuns(), Options{Again: true})
			require.NoError(t, err)
			assert.Empty(t, runs.Replaced)
			assert.False(t, runs.Records[1].Valid())
		})
	})
	t.Run("a host without descriptors has none the next time", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			none := &engines.Error{Class: engines.Client, Message: "socket: too many open files"}
			runs, err := Run(t.Context(), tries(of(), of(2), none), fourRuns(), Options{Again: true})
			require.NoError(t, err)
			assert.Empty(t, runs.Replaced)
			assert.Contains(t, kinds(runs.Records[1]), kindClient)
		})
	})
	t.Run("nobody asks for it", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			runs, err := Run(t.Context(), tries(of(2), of(), nil), fourRuns(), Options{})
			require.NoError(t, err)
			assert.Empty(t, runs.Replaced)
			assert.False(t, runs.Records[1].Valid())
		})
	})
	t.Run("a run for which there is no time", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			var logs []string
			p := fourRuns()
			// Four runs may take 85 s each; the first has taken 20 s, and to make
			// it again leaves four.
			o := Options{Again: true, Config: ci.Config{Budget: 360 * time.Second}, Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }}
			p.Drain = 65 * time.Second
			runs, err := Run(t.Context(), tries(of(1), of(), nil), p, o)
			require.NoError(t, err)
			assert.Empty(t, runs.Replaced)
			assert.Contains(t, strings.Join(logs, "\n"), "benchtest: run 1 is not made again: needs ")
		})
	})
}

// A test's runs are made again without asking.
func TestMeasureMakesARunAgain(t *testing.T) {
	inFolder(t)
	inBubble(t, func(t *testing.T) {
		r := &recorder{name: "T", ctx: t.Context()}
		runs := r.measure(tries(of(2), of(), nil), fourRuns())
		require.Empty(t, r.errors)
		assert.Len(t, runs.Records, 4)
		require.Len(t, runs.Replaced, 1)
		assert.Equal(t, 1, runs.Replaced[0].Run)
	})
}

// The rule is a function of the problems alone.
func TestOnlyLate(t *testing.T) {
	client, errs := metric.Problem{Kind: kindClient}, metric.Problem{Kind: kindErrors}
	for _, c := range []struct {
		name     string
		problems []metric.Problem
		failure  string
		want     bool
	}{
		{"late", []metric.Problem{client, client}, "", true},
		{"late, and errors", []metric.Problem{client, errs}, "", false},
		{"errors", []metric.Problem{errs}, "", false},
		{"no descriptor", []metric.Problem{client}, string(engines.Client), false},
	} {
		r := good()
		r.Problems, r.Requests[7].Failure = c.problems, c.failure
		assert.Equal(t, c.want, onlyLate(r), c.name)
	}
}

// A store that cannot be written ends the measurement; it is not measured on.
func TestASetAsideRunThatCannotBeKept(t *testing.T) {
	s := &session{runs: &Runs{}, store: &store{replaced: filepath.Join(t.TempDir(), "no such folder", "x.jsonl")}, start: &engineStart{}}
	err := s.setAside(good(), 1)
	require.ErrorContains(t, err, "benchtest: write record: open ")
	assert.Len(t, s.runs.Replaced, 1, "it is not lost to the caller")
}
