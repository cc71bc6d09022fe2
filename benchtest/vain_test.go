package benchtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A server that always counts less than it sends is waited for twice, not before
// each run; and what that hides is said of each run.
func TestAServerThatCountsLessThanItSends(t *testing.T) {
	const hidden = "whether it served others in this run cannot be seen by that"
	for _, row := range []struct {
		name   string
		starts int
		// others is how many requests of others the server counts in the warmup of
		// the third run, and of the fourth.
		others int
	}{
		{"alone", 1, 0},
		{"started again before each run", 5, 0},
		{"and others fill the gap", 1, 1000},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var log []string
				measure := func(server *served) (*Runs, time.Duration) {
					p := usual()
					p.Runs, p.Starts = 5, row.starts
					var engine engines.Engine = server
					if row.starts > 1 {
						engine = restartable{server}
					}
					begun := time.Now()
					runs, err := Run(t.Context(), engine, p, Options{Log: func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }})
					require.NoError(t, err)
					require.Len(t, runs.Records, 5)
					return runs, time.Since(begun)
				}
				_, usually := measure(&served{script: quick()})
				assert.NotContains(t, strings.Join(log, "\n"), "still lacked")
				server := &served{script: quick(), shy: true}
				server.fails = func(n int, _ *engines.Request) error {
					if n == 450 || n == 650 {
						server.mu.Lock()
						defer server.mu.Unlock()
						server.prompt += 16 * row.others
					}
					return nil
				}
				runs, took := measure(server)
				assert.Equal(t, usually+vainWaits*countedLimit, took)
				for i, r := range runs.Records {
					assert.Empty(t, r.Problems)
					assert.Equal(t, row.others > 0 && (i == 2 || i == 3), r.Served["prompt_tokens"] > 0)
					assert.Equal(t, 1, strings.Count(strings.Join(r.Warnings, "\n"), hidden))
				}
				assert.Equal(t, 1, strings.Count(strings.Join(log, "\n"), "later runs do not wait for that"))
			})
		})
	}
}
