package benchtest

import (
	"math"
	"slices"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// failedBefore: failures of the warmup and of settle, which no metric counts. An
// engine that failed them was not warmed up, or not settled, and was not well.
// They are few, so that more than the limit's share of them may be chance: they
// count where an engine that fails as many as the limit allows would show so many
// in one phase of a thousand.
//
// What was cut by the drain or not sent for the load's sake says of the load that
// it was too much, which the window's own requests say as well: it counts only
// where nothing succeeded.
func (s *session) failedBefore(r *metric.Record, phase string, flights []*flight) {
	limit := s.plan.Point.Limits.ErrorRate
	n, good, failed := 0, 0, 0
	first, other := "", ""
	for _, f := range flights {
		t := &f.line
		text := t.Failure + ": " + firstLine(t.Message)
		switch t.Failure {
		case metric.Aborted:
			continue
		case "":
			good++
		case metric.Unfinished, failCapped:
			if other == "" {
				other = text
			}
		default:
			if failed++; first == "" {
				first = text
			}
		}
		n++
	}
	switch {
	case n > 0 && good == 0:
		if first == "" {
			first = other
		}
		addProblem(r, kindErrors, "none of %s of %s succeeded; first failure: %s: find out why", many(n, "request"), phase, first)
	case tail(n, failed, limit) < rare:
		addProblem(r, kindErrors, "%d of %s of %s failed (%s), limit %s; first failure: %s: find out why, or raise Limits.ErrorRate", failed, many(n, "request"), phase, percent(float64(failed)/float64(n)), percent(limit), first)
	}
}

// rare is a probability that is not laid to chance.
const rare = 0.001

// tail is the probability of k or more failures of n requests that fail with
// probability p each, by the binomial distribution.
func tail(n, k int, p float64) float64 {
	if k <= 0 || p >= 1 {
		return 1
	}
	of := func(x int) float64 { l, _ := math.Lgamma(float64(x) + 1); return l }
	sum := 0.0
	for i := k; i <= n && p > 0; i++ {
		sum += math.Exp(of(n) - of(i) - of(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}

// failedSettle is failedBefore of settle, where the window does not say it
// already.
func (s *session) failedSettle(r *metric.Record, out outcome) {
	if slices.ContainsFunc(r.Problems, func(p metric.Problem) bool { return p.Kind == kindErrors || p.Kind == kindNoData }) {
		return
	}
	n := slices.IndexFunc(out.flights, func(f *flight) bool { return f.line.Phase != metric.Settle })
	s.failedBefore(r, "settle", out.flights[:max(n, 0)])
}
