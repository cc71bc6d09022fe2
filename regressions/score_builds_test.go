package regressions_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// load is one point at which builds of the engine are measured.
type load struct {
	name  string
	point benchtest.Point
	// gaps is true where metrics of the gaps between tokens are wanted, whose
	// sorting costs as much as the run.
	gaps bool
}

// chat is the workload of the score: 2,048 tokens in and 256 out. The engine
// serves 14.1 requests a second of it.
var chat = fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)}

// prefixed is chat whose prompts share their first 1,536 tokens, for what
// concerns the prefix cache.
type prefixed struct{}

func (prefixed) String() string { return "prefixed 1536+512/256" }

func (prefixed) Request(i int, shape, content uint64) engines.Request {
	head := fixtures.Lengths{Prompt: fixtures.Fixed(1536), Output: fixtures.Fixed(256)}
	tail := fixtures.Lengths{Prompt: fixtures.Fixed(512), Output: fixtures.Fixed(256)}
	r := tail.Request(i, shape, content+1)
	r.Tokens = append(head.Request(0, shape, content).Tokens, r.Tokens...)
	return r
}

// build is one build of the engine on one machine. What several gates want of
// one load is measured once, and each is charged for it.
type build struct {
	sync.Mutex
	cfg    sim.Config
	shared bool
	// carried is true where noise goes on from run to run.
	carried bool
	at      map[string]*benchtest.Runs
	// kept is how many runs at a load have been stripped to what is judged:
	// others may be reading them.
	kept map[string]int
	// err is why a load could not be measured to the end.
	err map[string]error
}

func newBuild(cfg sim.Config, shared bool) *build {
	cfg.DevMode = true
	return &build{cfg: cfg, shared: shared, at: map[string]*benchtest.Runs{}, kept: map[string]int{}, err: map[string]error{}}
}

// measure returns the first n runs at a load and makes those that are lacking,
// so that all n are spread over so many starts of the engine. An error is one
// of the engine, as it would end a test.
func (b *build) measure(ctx context.Context, l load, n, starts int) ([]*metric.Record, error) {
	b.Lock()
	defer b.Unlock()
	if b.at[l.name] == nil {
		b.at[l.name], b.err[l.name] = b.begin(ctx, l)
	}
	runs := b.at[l.name]
	for start := 1; b.err[l.name] == nil && len(runs.Records) < n; start++ {
		b.err[l.name] = runs.ExtendOver(ctx, n*start/starts, start)
	}
	for _, r := range runs.Records[b.kept[l.name]:] {
		if l.gaps && r.Gaps.N == 0 {
			r.Summarise()
		}
		for i := range r.Requests {
			r.Requests[i].Gaps = nil
		}
	}
	b.kept[l.name] = len(runs.Records)
	if len(runs.Records) < n {
		return runs.Records, fmt.Errorf("%s: %w", l.name, b.err[l.name])
	}
	return runs.Records[:n:n], nil
}

// begin makes the first run. Each load has an engine of its own, as in a job
// whose tests each start one.
func (b *build) begin(ctx context.Context, l load) (*benchtest.Runs, error) {
	cfg, p := b.cfg, l.point
	for _, c := range l.name {
		cfg.Seed = cfg.Seed*1_000_003 + uint64(c)
	}
	p.Runs = 1
	if p.Workload = chat; b.shared {
		p.Workload, p.SharedTokens = prefixed{}, 0.75
	}
	engine, err := b.engine(cfg)
	if err != nil {
		return nil, err
	}
	return benchtest.Run(ctx, engine, p, benchtest.Options{Test: "TestScore"})
}

func (b *build) engine(cfg sim.Config) (engines.Engine, error) {
	if b.carried {
		return newWandering(cfg)
	}
	return sim.NewModel(cfg)
}

// seconds is the engine's time from the start to the end of these runs, which
// are the first of their point: readiness, warmup, settle and cooldown too.
func seconds(records []*metric.Record) float64 {
	last := records[len(records)-1]
	end := time.Duration(0)
	for i := range last.Requests {
		end = max(end, last.Requests[i].Scheduled, last.Requests[i].Closed)
	}
	return (last.Time.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) + end).Seconds()
}

// The loads of our job. The engine keeps up with 14.1 requests a second.
var (
	serial = load{"serial", benchtest.Point{Closed: benchtest.Closed{InFlight: 1}, Requests: 30, Warmup: 3, Settle: -1}, true}
	third  = load{"third", benchtest.Point{Arrivals: arrival.Poisson{Rate: 4}, Requests: 300, Capacity: 14.1}, true}
	knee   = load{"knee", benchtest.Point{Arrivals: arrival.Poisson{Rate: 12.5}, Requests: 1000, Settle: 300}, false}
)
