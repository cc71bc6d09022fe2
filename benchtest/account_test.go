package benchtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// kept is an engine behind something that keeps its page of metrics for a while.
type kept struct {
	*served
	every time.Duration
	page  engines.Counters
	at    time.Time
}

func (e *kept) Scrape(ctx context.Context) (engines.Counters, error) {
	if now := time.Now(); e.at.IsZero() || now.Sub(e.at) >= e.every {
		e.page, _ = e.served.Scrape(ctx)
		e.at = now
	}
	return e.page, nil
}

// What a page had not yet of the requests before a run is nobody else's in it.
func TestAPageOfMetricsThatIsKeptForAWhile(t *testing.T) {
	const lacked = "2s after the last request before this run the server's prompt_tokens still lacked some of what it had served: whether it served others in this run cannot be seen by that (go round what keeps its /metrics for a while; or it counts less than it sends)"
	const learnt = "2s after the last request before earlier runs the server's prompt_tokens still lacked some of what it had served, so this run has not waited: whether it served others in this run cannot be seen by that (go round what keeps its /metrics for a while; or it counts less than it sends)"
	for _, row := range []struct {
		every time.Duration
		seen  []bool // of each run, whether its account could be kept
	}{
		{0, []bool{true, true, true}},
		{time.Second, []bool{true, true, true}},
		{1900 * time.Millisecond, []bool{true, true, true}},
		{3 * time.Second, []bool{true, true, true}},
		{7 * time.Second, []bool{true, true, true}},
		{11 * time.Second, []bool{false, true, false}},
		{15 * time.Second, []bool{false, false, false}},
		{40 * time.Second, []bool{false, false, false}},
		{time.Hour, []bool{false, false, false}},
	} {
		t.Run(row.every.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := usual()
				p.Runs = 3
				runs, err := Run(t.Context(), &kept{served: &served{script: quick()}, every: row.every}, p, Options{})
				require.NoError(t, err)
				var seen []bool
				for _, r := range runs.Records {
					assert.Empty(t, r.Problems)
					served, ok := r.Served["prompt_tokens"]
					seen = append(seen, ok)
					if ok {
						assert.LessOrEqual(t, served, r.Own["prompt_tokens"])
						assert.NotContains(t, r.Warnings, lacked)
					} else if text := strings.Join(r.Warnings, "\n"); len(seen) <= vainWaits || slices.Contains(seen, true) {
						assert.Equal(t, 1, strings.Count(text, lacked))
					} else {
						assert.Equal(t, 1, strings.Count(text, learnt))
						assert.NotContains(t, text, lacked)
					}
				}
				assert.Equal(t, row.seen, seen)
			})
		})
	}
}

// idling is a server that tells that it holds no work.
type idling struct{ *served }

func (idling) Load(context.Context) (engines.Load, error) {
	return engines.Load{Running: engines.Known(0), Waiting: engines.Known(0)}, nil
}

// Requests that did not end well may be counted, whole: those of the run, and those
// before it where the engine may still have worked on them. The first request asks
// whether the engine is ready; 50 warm it up, 50 settle it and 100 are measured.
func TestWhatRequestsThatFailAccountFor(t *testing.T) {
	const each = 16
	inWarmup := func(n int) bool { return n > 10 && n <= 15 }
	inSettle := func(n int) bool { return n > 60 && n <= 65 }
	for _, row := range []struct {
		name        string
		class       engines.Class
		fails       func(n int) bool
		idle, picky bool
		late        time.Duration
		want        float64 // requests that the run accounts for
	}{
		{"in the run", engines.Reset, inSettle, true, false, 0, 150},
		{"in the warmup, and are not counted", engines.Reset, inWarmup, false, true, 0, 155},
		{"in the warmup, and are counted", engines.Reset, inWarmup, false, false, 0, 150},
		{"in the warmup, and are counted late", engines.Reset, inWarmup, false, false, 250 * time.Millisecond, 153},
		{"in the warmup, and the idle engine does not count them", engines.Reset, inWarmup, true, true, 0, 150},
		{"in the warmup, and the idle engine counts late", engines.Reset, inWarmup, true, false, 250 * time.Millisecond, 150},
		{"in the warmup, and the idle engine counts the others late", engines.Reset, inWarmup, true, true, 250 * time.Millisecond, 150},
		{"and never reached it, in the run", engines.Unreachable, inSettle, true, true, 0, 145},
		{"and never reached it, in the warmup", engines.Unreachable, inWarmup, false, true, 0, 150},
		{"for want of something here, in the run", engines.Client, inSettle, true, true, 0, 145},
		{"since they cannot be asked, in the run", engines.Misuse, inSettle, true, true, 0, 145},
	} {
		t.Run(fmt.Sprintf("%s %s", row.class, row.name), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				server := &served{script: quick(), late: row.late, picky: row.picky}
				server.fails = func(n int, _ *engines.Request) error {
					if row.fails(n) {
						return &engines.Error{Class: row.class, Message: "made up"}
					}
					return nil
				}
				var engine engines.Engine = server
				if row.idle {
					engine = idling{server}
				}
				r := one(t, engine, usual())
				kind := kindErrors
				if row.class == engines.Client {
					kind = kindClient
				}
				assert.Equal(t, []string{kind}, kinds(r))
				assert.Equal(t, row.want*each, r.Own["prompt_tokens"])
			})
		})
	}
}

// Those that still wait here for a slot when the drain ends never leave.
func TestRequestsThatNeverLeaveAccountForNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := usual()
		p.ClientLimit, p.Drain = 1, time.Second
		server := &served{script: &script{first: 150 * time.Millisecond, gap: time.Millisecond}}
		r := one(t, server, p)
		left := 0
		for _, f := range r.Requests {
			if f.Sent > 0 {
				left++
			}
		}
		require.Less(t, left, len(r.Requests))
		assert.Equal(t, float64(16*left), r.Own["prompt_tokens"])
	})
}

type text struct{ prompts }

func (w text) Request(i int, shape, content uint64) engines.Request {
	r := w.prompts.Request(i, shape, content)
	r.Text, r.Tokens = fmt.Sprint("prompt ", content, " ", i), nil
	return r
}

// A request that fails does not say how long its prompt was. Where it may be counted
// in the run nobody knows what that has of prompts.
func TestAPromptOfWhichNobodyTellsTheLength(t *testing.T) {
	const untold = "nobody has told how many prompt tokens 1 request had: whether the server served others in this run cannot be seen by prompt_tokens"
	for _, row := range []struct {
		name  string
		fails int // the first asks whether the engine is ready, and 50 warm it up
		idle  bool
		seen  bool
	}{
		{"in the run", 150, true, false},
		{"in the warmup", 12, false, false},
		{"in the warmup, and the engine has told that it is idle", 12, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := usual()
				p.Workload = text{prompts{16, 4}}
				server := &served{script: quick()}
				server.fails = func(n int, _ *engines.Request) error {
					if n == row.fails {
						return &engines.Error{Class: engines.Reset, Message: "made up"}
					}
					return nil
				}
				var engine engines.Engine = server
				if row.idle {
					engine = idling{server}
				}
				r := one(t, engine, p)
				assert.Empty(t, r.Problems)
				if row.seen {
					assert.Contains(t, r.Served, "prompt_tokens")
					assert.NotContains(t, r.Warnings, untold)
				} else {
					assert.NotContains(t, r.Served, "prompt_tokens")
					assert.Contains(t, r.Warnings, untold)
				}
			})
		})
	}
}

// slow is a server whose page is late at the first edge of the window.
type slow struct {
	*served
	n int
}

func (e *slow) Scrape(ctx context.Context) (engines.Counters, error) {
	if e.n++; e.n == 3 { // after those of the start and of the run's account
		time.Sleep(3 * time.Second)
	}
	return e.served.Scrape(ctx)
}

// A page that comes at the first edge of the window when the second is over is no
// restart.
func TestEdgesAreReadInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := usual()
		p.Requests = 10
		engine := &slow{served: &served{script: &script{first: time.Second, gap: time.Millisecond}}}
		r := one(t, engine, p)
		assert.Less(t, r.To-r.From, 3*time.Second)
		assert.Empty(t, r.Problems)
		assert.Equal(t, map[string]float64{"prompt_tokens": 0}, r.Counters)
		assert.Equal(t, 5, engine.n)
	})
}
