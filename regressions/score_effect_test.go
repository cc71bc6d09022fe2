package regressions_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/regressions"
)

// effect is what a mutant does to what a job gates, in margins: 1.5 is one and
// a half times what is tolerated. An effect that leaves nothing to compare is
// infinite.
type effect struct {
	margins float64
	of      string
}

// owed is the effect from which a gate must catch a mutant.
const owed = 1.5

// truth measures true effects, on engines without noise and over the same
// arrivals.
type truth struct {
	sync.Mutex
	base map[bool]*build
}

// effectRuns are the runs at each load: as many as the first look takes, since
// a leak shows only in the later ones.
const effectRuns = 3

// of is the largest effect of a mutant, a build of it being given, on what the
// job gates.
func (tr *truth) of(ctx context.Context, m mutant, cand *build, j job) effect {
	tr.Lock()
	if tr.base[m.shared] == nil {
		tr.base[m.shared] = newBuild(sim.Config{Noise: sim.Quiet, Seed: 1}, m.shared)
	}
	base := tr.base[m.shared]
	tr.Unlock()
	runs, starts := max(effectRuns, m.starts), max(1, m.starts)
	var most effect
	for _, l := range []load{serial, third, knee} {
		if m.starts > 0 && l.name != serial.name {
			continue // a start differs from another at every load alike
		}
		for _, e := range []func() effect{
			func() effect { return lost(ctx, l, base, cand, runs, starts) },
			func() effect { return j.effect(ctx, l, base, cand, runs, starts) },
		} {
			if e := e(); e.margins > most.margins {
				most = e
			}
			if math.IsInf(most.margins, 1) {
				return most
			}
		}
	}
	return most
}

// lost is infinite where the runs cannot be compared at all.
func lost(ctx context.Context, l load, base, cand *build, runs, starts int) effect {
	old, err := base.measure(ctx, l, 1, 1)
	if err != nil {
		panic(err)
	}
	records, err := cand.measure(ctx, l, runs, starts)
	if err != nil {
		return effect{math.Inf(1), err.Error()}
	}
	if !slices.Equal(old[0].Key, records[0].Key) {
		return effect{math.Inf(1), "another engine or model"}
	}
	for _, r := range records {
		if !r.Valid() {
			return effect{math.Inf(1), fmt.Sprintf("%s invalid: %s", l.name, r.Problems[0].Kind)}
		}
	}
	return effect{}
}

// effect is the largest at one load.
func (j job) effect(ctx context.Context, l load, base, cand *build, runs, starts int) effect {
	old, err := base.measure(ctx, l, runs, 1)
	if err != nil {
		panic(err)
	}
	now, err := cand.measure(ctx, l, runs, starts)
	if err != nil {
		panic(err) // lost has looked
	}
	if l.name == knee.name {
		return j.kneeEffect(old, now)
	}
	most := effect{margins: errorsOf(now) / 0.005, of: l.name + " error-rate"}
	for _, m := range j.gated() {
		before, _ := overRuns(old, m.Name)
		after, has := overRuns(now, m.Name)
		e := effect{math.Inf(1), fmt.Sprintf("%s %s lost", l.name, m.Name)}
		if has {
			e = effect{math.Log(after/before) / math.Log1p(m.Margin), fmt.Sprintf("%s %s %+.1f %%", l.name, m.Name, 100*(after/before-1))}
		}
		if e.margins > most.margins {
			most = e
		}
	}
	return most
}

// gated are the job's metrics with their margins, those of the default gate
// where it names none.
func (j job) gated() []regressions.Metric {
	if j.gate.Metrics != nil {
		return j.gate.Metrics
	}
	const m = regressions.DefaultMargin
	return []regressions.Metric{
		{Name: "p50-tpot-sec", Margin: m}, {Name: "p50-e2e-sec", Margin: m}, {Name: "p50-ttft-sec", Margin: 2 * m},
		{Name: "p95-tpot-sec", Margin: 2 * m}, {Name: "p95-ttft-sec", Margin: 4 * m}, {Name: "max-ttft-sec", Margin: 1}, {Name: "max-itl-sec", Margin: 1},
	}
}

// kneeEffect is the loss of goodput beside the loss that the bound tolerates.
func (j job) kneeEffect(old, now []*metric.Record) effect {
	if v, err := steady.JudgeRecords(now...); err != nil || v.State == steady.Growing {
		return effect{math.Inf(1), "knee growing"}
	}
	before, after := goodput(old, j.slo), goodput(now, j.slo)
	return effect{(before - after) / (before - j.goodput), fmt.Sprintf("knee goodput %.2f → %.2f", before, after)}
}

func goodput(records []*metric.Record, slo metric.SLO) float64 {
	good, seconds := 0, 0.0
	for _, r := range records {
		n, _ := r.Attainment(slo)
		good += n
		seconds += (r.To - r.From).Seconds()
	}
	return float64(good) / seconds
}

// overRuns is the geometric mean of a metric over runs, false where one does
// not have it.
func overRuns(records []*metric.Record, name string) (float64, bool) {
	sum := 0.0
	for _, r := range records {
		v, err := r.Value(name)
		if err != nil || v <= 0 {
			return 0, false
		}
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(records))), true
}

func errorsOf(records []*metric.Record) float64 {
	v, err := metric.PooledValue("error-rate", records...)
	if err != nil {
		return math.Inf(1)
	}
	return v
}
