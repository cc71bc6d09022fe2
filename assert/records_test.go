package assert_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// recorder is a TestingT that keeps what it is told.
type recorder struct {
	name                string
	errors, logs, skips []string
	helped, stopped     int
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}
func (r *recorder) Helper()                  { r.helped++ }
func (r *recorder) Name() string             { return r.name }
func (r *recorder) Context() context.Context { return context.Background() }
func (r *recorder) Skip(args ...any)         { r.skips = append(r.skips, fmt.Sprint(args...)) }
func (r *recorder) FailNow()                 { r.stopped++ }

// said is all that was told, in words that a test can compare.
func (r *recorder) said() string {
	var b strings.Builder
	for _, kind := range []struct {
		name  string
		texts []string
	}{{"error", r.errors}, {"log", r.logs}, {"skip", r.skips}} {
		for _, text := range kind.texts {
			fmt.Fprintf(&b, "%s: %s\n", kind.name, text)
		}
	}
	return b.String()
}

// expect compares what an assertion returned and said, to the letter.
func expect(t *testing.T, r *recorder, got, want bool, text string) {
	t.Helper()
	if got != want {
		t.Errorf("returned %v, want %v", got, want)
	}
	if said := r.said(); said != text {
		t.Errorf("said\n%s\nwant\n%s", said, text)
	}
	if r.helped == 0 {
		t.Error("Helper was not called")
	}
}

// load is a run to be made up: n requests at an even rate, each with its TTFT
// and TPOT, spread by a seed so that the queue moves as a queue does.
type load struct {
	n          int
	rate       float64
	ttft, tpot time.Duration
	spread     float64                     // of the TTFT, relative
	backlog    float64                     // of every arrival this part is never caught up with
	each       func(int, *metric.Timeline) // further changes
	inFlight   int
	// clientLimit is what the point says of a limit on the client's side.
	clientLimit int
	// service makes the engine a single server of this service time, and the
	// arrivals Poisson.
	service time.Duration
}

const outputTokens = 11

func (l load) record(run int) *metric.Record {
	rng := rand.New(rand.NewPCG(uint64(run), 7))
	gap := time.Duration(float64(time.Second) / l.rate)
	r := &metric.Record{
		Schema: metric.Schema, Test: "TestMadeUp", PointName: "even-" + fmt.Sprint(l.rate), PointHash: "0123456789abcdef",
		Point: []metric.Pair{{Key: "workload", Value: "chat(100/11)"}}, Run: run, StartID: "s0", Seed: uint64(run), Virtual: true,
		Time: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(time.Duration(run) * time.Minute),
		From: time.Second, To: time.Second + time.Duration(l.n)*gap, InFlight: l.inFlight,
	}
	if l.inFlight == 0 {
		r.Rate, r.GapCV2 = l.rate, 1
		r.Point = append(r.Point, metric.Pair{Key: "arrivals", Value: fmt.Sprintf("even %v/s", l.rate)})
	}
	if l.clientLimit > 0 {
		r.Point = append(r.Point, metric.Pair{Key: "client-limit", Value: fmt.Sprint(l.clientLimit)})
	}
	due, free := r.From, r.From
	for i := range l.n {
		wait := time.Duration(l.backlog * float64(i) * float64(gap))
		switch {
		case l.service == 0:
			due = r.From + time.Duration(i)*gap
		case i > 0:
			due += time.Duration(rng.ExpFloat64() * float64(gap))
		}
		if l.service > 0 {
			free = max(free, due) + l.service
			wait = free - due
		}
		ttft := wait + time.Duration(float64(l.ttft)*(1+l.spread*(2*rng.Float64()-1)))
		q := metric.Timeline{
			ID: fmt.Sprintf("r%d-%05d", run, i), Phase: metric.Window,
			Scheduled: due, Sent: due, FirstEvent: due + ttft, FirstToken: due + ttft, FirstContent: due + ttft,
			LastToken: due + ttft + l.tpot*(outputTokens-1), Events: outputTokens, FirstTokens: 1, TokenGaps: true, GapMax: l.tpot,
			PromptTokens: 100, OutputTokens: outputTokens, CachedTokens: 0, AskedPrompt: 100, AskedOutput: outputTokens, Finish: "length",
		}
		q.Closed = q.LastToken
		if l.each != nil {
			l.each(i, &q)
		}
		r.Requests = append(r.Requests, q)
	}
	if l.service > 0 {
		r.To = due + gap
	}
	return r
}

// runs makes up n runs of one load.
func (l load) runs(n int) *benchtest.Runs {
	runs := &benchtest.Runs{}
	for i := range n {
		runs.Records = append(runs.Records, l.record(i))
	}
	return runs
}

// calm is a load that an engine sustains with ease.
var calm = load{n: 1000, rate: 10, ttft: 200 * time.Millisecond, tpot: 20 * time.Millisecond, spread: 0.5}

// failing makes request i fail where which says so.
func failing(class string, which func(int) bool) func(int, *metric.Timeline) {
	return func(i int, q *metric.Timeline) {
		if which(i) {
			q.Failure, q.Message = class, "made up"
			q.FirstToken, q.FirstContent, q.LastToken, q.Events, q.OutputTokens, q.FirstTokens = 0, 0, 0, 0, -1, -1
		}
	}
}
