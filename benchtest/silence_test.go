package benchtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// hung is a script that takes requests and answers none from the n-th on,
// counted from 0, the one that asks whether it is ready.
type hung struct {
	*script
	from int
}

func (e *hung) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	e.mu.Lock()
	hangs := len(e.seen) >= e.from
	e.mu.Unlock()
	if !hangs {
		return e.script.Generate(ctx, r, emit)
	}
	e.arrived(r)
	defer e.left()
	sent := r.Now()
	<-ctx.Done()
	return engines.Reply{Sent: sent, Closed: r.Now()}, &engines.Error{Class: engines.Canceled, Message: "the context ended"}
}

const remedy = ": the engine hangs: look into its log and start it again (where a token may take that long, or events are held back on the way, raise Point.Drain)"

// An engine that hangs is found out by its silence, after the drain or ten
// seconds, and is said to hang.
func TestAnEngineThatHangs(t *testing.T) {
	serial := Point{Closed: Closed{InFlight: 1}, Arrivals: nil}
	four := Point{Closed: Closed{InFlight: 4}}
	open := Point{Arrivals: arrival.Constant{Rate: 10}}
	for _, row := range []struct {
		name  string
		point Point
		drain time.Duration
		from  int
		after time.Duration // the last sign of life
		want  string
		kept  bool // a record
	}{
		{"a closed loop, in its warmup", serial, 8 * time.Second, 4, 10 * time.Second,
			"benchtest: run 1 of 1: in the warmup: benchtest: no event has come for 10s, with 1 request in flight" + remedy, false},
		{"with several in flight, at the end of a warmup that the drain cuts", four, 8 * time.Second, 4, 18 * time.Second,
			"benchtest: run 1 of 1: benchtest: no event has come for 10s, with 4 requests in flight" + remedy, false},
		{"in its window", serial, 8 * time.Second, 14, 10 * time.Second,
			"benchtest: run 1 of 1: benchtest: no event has come for 10s, with 1 request in flight" + remedy, true},
		{"an open loop, in its warmup", open, 0, 1, time.Minute,
			"benchtest: run 1 of 1: in the warmup: benchtest: no event has come for 1m0s, with 5 requests in flight" + remedy, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := row.point
				p.Workload, p.Runs, p.Warmup, p.Settle, p.Requests, p.Drain = prompts{16, 4}, 1, 5, 5, 20, row.drain
				begun := time.Now()
				runs, err := Run(t.Context(), &hung{quick(), row.from}, p, Options{})
				require.EqualError(t, err, row.want)
				assert.GreaterOrEqual(t, time.Since(begun), row.after)
				assert.Less(t, time.Since(begun), row.after+2*time.Second)
				if !row.kept {
					assert.Empty(t, runs.Records)
					return
				}
				require.Len(t, runs.Records, 1)
				assert.Equal(t, kindCut, kinds(runs.Records[0])[0])
				assert.NotContains(t, kinds(runs.Records[0]), kindUnfinished)
			})
		})
	}
}

// Where time is over before the silence is, what was silent is said all the same;
// not of an engine that has just said something.
func TestTimeIsOverWhileAnEngineHangs(t *testing.T) {
	for name, row := range map[string]struct {
		engine engines.Engine
		want   string
	}{
		"it hangs": {&hung{quick(), 4}, "; no event had come for 30s, with 1 request in flight"},
		"it works": {&script{first: 500 * time.Millisecond}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				over := errors.New("the test's time is over in 3s: raise -timeout")
				ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Second+200*time.Millisecond, over)
				defer cancel()
				_, err := Run(ctx, row.engine, Point{Workload: prompts{16, 4}, Closed: Closed{InFlight: 1}, Requests: 200, Warmup: 100, Runs: 1}, Options{})
				require.ErrorIs(t, err, over)
				assert.EqualError(t, err, "benchtest: run 1 of 1: in the warmup: the test's time is over in 3s: raise -timeout"+row.want)
			})
		})
	}
}

// A drain that is shorter than the silence ends a window whose engine hangs, and
// the load is not said to be too much.
func TestADrainInWhichNothingComes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := one(t, &hung{quick(), 15}, small(Point{Arrivals: arrival.Constant{Rate: 10}, Requests: 20, Drain: 4 * time.Second}))
		require.Equal(t, []string{kindUnfinished}, kinds(r))
		assert.Equal(t, "6 of 20 requests (30 %) had not ended 4s after the window, limit 1 %: no event came from any request in that time: raise Point.Drain, or find out whether the engine hangs", r.Problems[0].Text)
	})
}

// What is slow does not hang, and who has nothing to do owes no event.
func TestSilenceThatIsNone(t *testing.T) {
	for _, row := range []struct {
		name   string
		engine *script
		point  Point
	}{
		{"nine seconds to each token, and a short drain", &script{first: 9 * time.Second, gap: 9 * time.Second}, Point{Closed: Closed{InFlight: 1}, Requests: 5, Drain: time.Second}},
		{"fourteen, where the drain is longer", &script{first: 14 * time.Second, gap: 14 * time.Second}, Point{Closed: Closed{InFlight: 1}, Requests: 5, Drain: 15 * time.Second}},
		{"half a minute between requests", quick(), Point{Arrivals: arrival.Constant{Rate: 1. / 30}, Requests: 5, Drain: time.Second}},
		{"one slot, a queue that is longer than the limit", &script{first: 3 * time.Second, gap: time.Millisecond, slots: 1}, Point{Arrivals: arrival.Constant{Rate: 5}, Requests: 10, Drain: 2 * time.Minute}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				assert.Empty(t, one(t, row.engine, small(row.point)).Problems)
			})
		})
	}
}
