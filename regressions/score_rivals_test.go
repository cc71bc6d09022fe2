package regressions_test

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
)

// The loads that only rivals ask for: a burst of 500 prompts with 64 in
// flight and nothing before it, and a minute and a half at ten a second.
var (
	burst = load{"burst", benchtest.Point{Closed: benchtest.Closed{InFlight: 64}, Requests: 500, Warmup: -1, Settle: -1}, false}
	ten   = load{"ten", benchtest.Point{Arrivals: arrival.Constant{Rate: 10}, Requests: 900}, false}
)

// rivals are what people gate with today, restated. Where the usual practice
// leaves the load open they get our quiet one with the arrivals of the
// baseline, which flatters them; none looks at the validity of a run.
var rivals = []contender{
	{"closed loop, throughput −10 %", closedThroughput},
	{"worst of 11 runs + 15 %", worstOfEleven},
	{"medians + 20 %", medians},
	{"Mann–Whitney, p < 0.05", mannWhitney},
	{"mean ± 2 s of three runs", twoSigma},
	{"absolute limits (k6)", thresholds},
}

// rival measures n runs of the candidate and m of the baseline at one load and
// asks what is wrong with them; "" is nothing.
func rival(ctx context.Context, l load, base, cand *build, m, n int, wrong func(base, cand []*metric.Record) string) said {
	old, err := base.measure(ctx, l, m, (m+baselineRuns/baselineStarts-1)/(baselineRuns/baselineStarts))
	if err != nil {
		panic(err)
	}
	now, err := cand.measure(ctx, l, n, 1)
	s := said{status: regressions.Pass}
	if len(now) > 0 {
		s.seconds = seconds(now)
	}
	if err != nil {
		s.status, s.why = regressions.Invalid, err.Error()
		return s
	}
	if s.why = wrong(old, now); s.why != "" {
		s.status = regressions.Regressed
	}
	return s
}

// closedThroughput is the serving benchmark's 500 prompts, 64 at a time:
// completed ÷ makespan, one run against one.
func closedThroughput(ctx context.Context, base, cand *build) said {
	return rival(ctx, burst, base, cand, 1, 1, func(base, cand []*metric.Record) string {
		return worse("throughput", rate(cand[0]) < 0.9*rate(base[0]))
	})
}

func rate(r *metric.Record) float64 {
	good, end := 0, time.Duration(0)
	for _, q := range r.Counted() {
		if !q.Failed() {
			good, end = good+1, max(end, q.LastToken)
		}
	}
	return float64(good) / (end - r.From).Seconds()
}

// worstOfEleven is a bound on every printed statistic, set once at 15 % beyond
// the worst of eleven runs; one run is held against it.
func worstOfEleven(ctx context.Context, base, cand *build) said {
	return rival(ctx, third, base, cand, 11, 1, func(base, cand []*metric.Record) string {
		for _, of := range latencies {
			for _, stat := range statistics {
				worst := 0.0
				for _, r := range base {
					worst = max(worst, stat.of(of.values(r)))
				}
				if stat.of(of.values(cand[0])) > 1.15*worst {
					return stat.name + " " + of.name
				}
			}
		}
		return ""
	})
}

// medians compares those of one run with those of another.
func medians(ctx context.Context, base, cand *build) said {
	return rival(ctx, third, base, cand, 1, 1, func(base, cand []*metric.Record) string {
		for _, of := range latencies {
			if rank(of.values(cand[0]), 0.5) > 1.2*rank(of.values(base[0]), 0.5) {
				return "p50 " + of.name
			}
		}
		return ""
	})
}

// twoSigma holds the mean of three runs against that of three others, give or
// take two of their standard deviations.
func twoSigma(ctx context.Context, base, cand *build) said {
	return rival(ctx, third, base, cand, 3, 3, func(base, cand []*metric.Record) string {
		for _, of := range latencies {
			old, s := meanSD(base, of)
			if now, _ := meanSD(cand, of); now > old+2*s {
				return "mean " + of.name
			}
		}
		return ""
	})
}

func meanSD(records []*metric.Record, of latency) (m, sd float64) {
	var xs []float64
	for _, r := range records {
		xs = append(xs, average(of.values(r)))
	}
	m = average(xs)
	for _, x := range xs {
		sd += (x - m) * (x - m) / float64(len(xs)-1)
	}
	return m, math.Sqrt(sd)
}

// mannWhitney pools the requests of three runs an arm, as if each were a
// sample of its own, and tests two-sided.
func mannWhitney(ctx context.Context, base, cand *build) said {
	return rival(ctx, third, base, cand, 3, 3, func(base, cand []*metric.Record) string {
		for _, of := range latencies {
			if z := rankSum(pooled(base, of), pooled(cand, of)); z > 1.96 {
				return of.name
			}
		}
		return ""
	})
}

// rankSum is the normal deviate of the Mann–Whitney test, positive where b is
// the larger. Values are times in nanoseconds or their quotients, so that ties
// are too few to matter.
func rankSum(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	var u, below float64
	for i, j := 0, 0; j < len(b); j++ {
		for i < len(a) && a[i] < b[j] {
			i++
		}
		below = float64(i)
		for k := i; k < len(a) && a[k] == b[j]; k++ {
			below += 0.5
		}
		u += below
	}
	m, n := float64(len(a)), float64(len(b))
	return (u - m*n/2) / math.Sqrt(m*n*(m+n+1)/12)
}

// thresholds are limits on one run that were set by hand: the objective on the
// 95th percentiles, and less than 1 % failed.
func thresholds(ctx context.Context, base, cand *build) said {
	return rival(ctx, ten, base, cand, 1, 1, func(_, cand []*metric.Record) string {
		failed := 0
		for _, q := range cand[0].Counted() {
			if q.Failed() {
				failed++
			}
		}
		limits := map[string]float64{"TTFT": objective.TTFT.Seconds(), "TPOT": objective.TPOT.Seconds(), "E2E": 5}
		for _, of := range latencies {
			if values := of.values(cand[0]); !(rank(values, 0.95) < limits[of.name]) {
				return "p95 " + of.name
			}
		}
		return worse("http_req_failed", failed*100 >= len(cand[0].Counted()))
	})
}

func worse(what string, is bool) string {
	if is {
		return what
	}
	return ""
}
