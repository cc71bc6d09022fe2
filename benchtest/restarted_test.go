package benchtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// served is a script that counts what it serves, as a server does that does not
// tell its starts apart. It is started again, by others, before the requests of
// these numbers.
type served struct {
	*script
	again map[int]bool
	// late is how long its counters follow its replies.
	late time.Duration
	// picky counts only what ends well.
	picky bool
	// shy tells only nine tenths of what it has counted.
	shy      bool
	prompt   int
	restarts int
}

func (e *served) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	e.mu.Lock()
	if e.again[len(e.seen)] {
		e.prompt = 0
	}
	e.mu.Unlock()
	tokens := len(r.Tokens)
	reply, err := e.script.Generate(ctx, r, emit)
	if err != nil && e.picky {
		return reply, err
	}
	count := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.prompt += tokens
	}
	if e.late == 0 {
		count()
	} else {
		time.AfterFunc(e.late, count)
	}
	return reply, err
}

func (e *served) Scrape(context.Context) (engines.Counters, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	told := e.prompt
	if e.shy {
		told = told * 9 / 10
	}
	return engines.Counters{PromptTokens: engines.Known(told)}, nil
}

// restartable can be started again by us.
type restartable struct{ *served }

func (e restartable) Restart(context.Context) error {
	e.prompt = 0
	e.restarts++
	return nil
}

// Counters fall between two readings only where the server was started again.
// One request asks for readiness; a run has 50 of warmup, 50 of settle, 100 in
// its window.
func TestARestartBetweenWindows(t *testing.T) {
	const fell = "the engine has restarted since this measurement began, and nobody here has asked for it (its counter prompt_tokens fell from "
	for _, row := range []struct {
		name   string
		engine func() engines.Engine
		starts int
		want   []string // of each run; empty is valid
	}{
		{"none", func() engines.Engine { return &served{script: quick()} }, 1, []string{"", "", ""}},
		{"in the second warmup", func() engines.Engine { return &served{script: quick(), again: map[int]bool{201 + 10: true}} }, 1,
			[]string{"", fell + "3216 to 640): find out why in its log, and measure all runs on one start; or several servers answer at this address: attach to one", fell + "3216 to 640): find out why in its log, and measure all runs on one start; or several servers answer at this address: attach to one"}},
		{"in the second settle", func() engines.Engine { return &served{script: quick(), again: map[int]bool{201 + 60: true}} }, 1,
			[]string{"", fell + "4016 to 640): find out why in its log, and measure all runs on one start; or several servers answer at this address: attach to one", fell + "4016 to 640): find out why in its log, and measure all runs on one start; or several servers answer at this address: attach to one"}},
		{"of our own", func() engines.Engine { return restartable{&served{script: quick()}} }, 3, []string{"", "", ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := usual()
				p.Runs, p.Starts = 3, row.starts
				runs, err := Run(t.Context(), row.engine(), p, Options{})
				require.NoError(t, err)
				var got []string
				for _, r := range runs.Records {
					text := ""
					for _, p := range r.Problems {
						assert.Equal(t, kindRestarted, p.Kind)
						text += p.Text
					}
					got = append(got, text)
				}
				assert.Equal(t, row.want, got)
			})
		})
	}
}

// A server's page of metrics follows its replies by a moment: what it had not
// counted before a run is not somebody else's in it. One that never counts all is
// not waited for without end.
func TestCountersThatFollowReplies(t *testing.T) {
	for _, late := range []time.Duration{0, time.Millisecond, 300 * time.Millisecond, time.Hour} {
		t.Run(late.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := usual()
				p.Arrivals, p.Closed.InFlight = nil, 25
				p.Warmup, p.Settle = 100, 100
				begun := time.Now()
				r := one(t, &served{script: quick(), late: late}, p)
				assert.Empty(t, r.Problems)
				if late == time.Hour {
					assert.NotContains(t, r.Served, "prompt_tokens")
				} else {
					require.Contains(t, r.Served, "prompt_tokens")
					assert.LessOrEqual(t, r.Served["prompt_tokens"], r.Own["prompt_tokens"])
				}
				assert.Less(t, time.Since(begun), 5*time.Second)
			})
		})
	}
}
