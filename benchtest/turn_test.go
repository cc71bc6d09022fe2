package benchtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A page of metrics that is kept for a while tells late of what an arm has served
// itself, and that is nobody else's; what others have is told apart from it.
func TestAnIdleArmWhosePageIsKeptForAWhile(t *testing.T) {
	for _, row := range []struct {
		name  string
		every time.Duration
		// before is how many requests others sent to the candidate just before.
		before int
		// others is the pause between requests of others' to the candidate; 0 is none.
		others time.Duration
		same   bool   // one server is behind both
		want   string // empty is no error
	}{
		{"a page made anew each time", 0, 0, 0, false, ""},
		{"kept for a second", time.Second, 0, 0, false, ""},
		{"kept for 7 s", 7 * time.Second, 0, 0, false, ""},
		{"kept for 23 s", 23 * time.Second, 0, 0, false, ""},
		{"kept for 41 s", 41 * time.Second, 0, 0, false, ""},
		{"kept for an hour", time.Hour, 0, 0, false, ""},
		{"and others before", 5 * time.Second, 100, 0, false, ""},
		{"and more of others before than the control uses", 5 * time.Second, 300, 0, false, ""},
		{"one server behind both", 0, 0, 0, true, "the control served 3216 prompt tokens while only the candidate was measured: both are the same server"},
		{"one server behind both, kept for a second", time.Second, 0, 0, true, "the control served 3216 prompt tokens while only the candidate was measured: both are the same server"},
		{"others, too", 0, 0, 100 * time.Millisecond, false, "the candidate served 2928 prompt tokens while only the control was measured"},
		{"others, too, a little", 0, 0, time.Second, false, "the candidate served 320 prompt tokens while only the control was measured"},
		{"others, too, and the page is kept", time.Second, 0, 100 * time.Millisecond, false, "the candidate served 2928 prompt tokens while only the control was measured"},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				control := &kept{served: &served{script: quick()}, every: row.every}
				candidate := &kept{served: &served{script: quick()}, every: row.every}
				if row.same {
					candidate.served = control.served
				}
				send := func() {
					_, err := candidate.Generate(t.Context(), &engines.Request{Tokens: make([]int32, 16), MaxTokens: 1}, func(engines.Chunk) {})
					assert.NoError(t, err)
				}
				_, err := candidate.Scrape(t.Context())
				require.NoError(t, err)
				for range row.before {
					send()
				}
				if row.others > 0 {
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						for sleep(ctx, row.others) {
							send()
						}
					}()
					defer func() { cancel(); <-ended }()
				}
				p := threeRuns()
				p.Limits.Shared = 1 // that is each run's to see
				_, now, err := RunBoth(t.Context(), control, candidate, p, Options{})
				if row.want != "" {
					assert.ErrorContains(t, err, row.want)
					return
				}
				require.NoError(t, err)
				assert.Len(t, now.Records, 3)
			})
		})
	}
}
