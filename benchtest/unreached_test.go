package benchtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A server that somebody else has started, and that is gone, ends the measurement
// at once: before another window is offered. The first request asks whether the
// engine is ready; 50 warm it up, 50 settle it and 100 are measured.
func TestAServerThatIsGone(t *testing.T) {
	const remedy = ": look into its log, or start it again"
	closed := usual()
	closed.Arrivals, closed.Closed.InFlight = nil, 4
	for _, row := range []struct {
		name string
		p    Point
		// resets and refuses are the numbers of requests from which on it resets
		// connections, and makes none.
		resets, refuses int
		asked, runs     int
		want            string
		problems        []string
	}{
		{"within the window: the next run's warmup is the last", usual(), 151, 154, 1 + 200 + 50, 1,
			"benchtest: run 2 of 3: none of 50 requests of the warmup reached the engine (first failure: unreachable: connection refused), so the run is not made" + remedy,
			[]string{"50 of 100 requests failed (50 %), limit 1 %; first of 3 reset: connection reset by peer; first of 47 unreachable: connection refused: find out why, or raise Limits.ErrorRate"}},
		{"before the window: it is the last", usual(), 98, 101, 1 + 200, 1,
			"benchtest: run 1 of 3: none of 100 requests of the window reached the engine (first failure: unreachable: connection refused), so no further run is made" + remedy,
			[]string{
				"none of 100 requests of the window succeeded (first failure: unreachable: connection refused)",
				"100 of 100 requests failed (100 %), limit 1 %; first failure: unreachable: connection refused: find out why, or raise Limits.ErrorRate",
			}},
		{"in the warmup", usual(), 1, 3, 1 + 50, 0,
			"benchtest: run 1 of 3: none of 50 requests of the warmup was answered by the engine (first of 2 reset: connection reset by peer; first of 48 unreachable: connection refused), so the run is not made" + remedy, nil},
		{"in settle", usual(), 1000, 51, 1 + 50 + 50, 0,
			"benchtest: run 1 of 3: none of 50 requests of settle reached the engine (first failure: unreachable: connection refused), so the run is not made" + remedy, nil},
		{"in settle of a closed loop", closed, 1000, 51, 1 + 50 + 52, 0,
			"benchtest: run 1 of 3: none of 52 requests of settle reached the engine (first failure: unreachable: connection refused), so the run is not made" + remedy, nil},
		{"in settle, but for one request", usual(), 1000, 52, 1 + 200, 1,
			"benchtest: run 1 of 3: none of 100 requests of the window reached the engine (first failure: unreachable: connection refused), so no further run is made" + remedy,
			[]string{
				"none of 100 requests of the window succeeded (first failure: unreachable: connection refused)",
				"100 of 100 requests failed (100 %), limit 1 %; first failure: unreachable: connection refused: find out why, or raise Limits.ErrorRate",
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := quick()
				engine.fails = func(n int, _ *engines.Request) error {
					switch {
					case n >= row.refuses:
						return &engines.Error{Class: engines.Unreachable, Message: "connection refused"}
					case n >= row.resets:
						return &engines.Error{Class: engines.Reset, Message: "connection reset by peer"}
					}
					return nil
				}
				row.p.Runs = 3
				runs, err := Run(t.Context(), engine, row.p, Options{})
				require.EqualError(t, err, row.want)
				assert.Len(t, engine.seen, row.asked)
				require.Len(t, runs.Records, row.runs)
				var problems []string
				for _, r := range runs.Records {
					for _, p := range r.Problems {
						problems = append(problems, p.Text)
					}
				}
				assert.Equal(t, row.problems, problems)
			})
		})
	}
}
