package benchtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// failures are what became of the requests of a phase that no metric counts.
//
// What was cut by the drain or not sent for the load's sake says of the load that
// it was too much, which the window's own requests say as well: it is none of the
// failed.
type failures struct {
	n, good, failed int
	// why are the classes of the failed, other those of what is none of them.
	why, other classes
}

func failuresOf(lines []*metric.Timeline) (f failures) {
	for _, t := range lines {
		switch t.Failure {
		case metric.Aborted:
			continue
		case "":
			f.good++
		case metric.Unfinished, failCapped:
			f.other.add(t.Failure, t.Message)
		default:
			f.failed++
			f.why.add(t.Failure, t.Message)
		}
		f.n++
	}
	return f
}

// none is true where nothing succeeded, for whatever reason.
func (f failures) none() bool { return f.n > 0 && f.good == 0 }

// beyond reports that more failed than chance makes of an engine that fails as
// many as the limit allows: so many would be seen in one phase of a thousand. The
// requests are few, so that more than the limit's share of them may be chance.
func (f failures) beyond(limit float64) bool { return tail(f.n, f.failed, limit) < rare }

// in says it of a phase.
func (f failures) in(phase string, limit float64) string {
	if f.none() {
		return fmt.Sprintf("none of %s of %s succeeded; %s: find out why", many(f.n, "request"), phase, slices.Concat(f.why, f.other))
	}
	return fmt.Sprintf("%d of %s of %s failed (%s), limit %s; %s: find out why, or raise Limits.ErrorRate", f.failed, many(f.n, "request"), phase, percent(float64(f.failed)/float64(f.n)), percent(limit), f.why)
}

// failedWarmup: an engine that failed requests of the warmup was not warmed up.
func (s *session) failedWarmup(r *metric.Record, flights []*flight) {
	limit := s.plan.Point.Limits.ErrorRate
	if f := failuresOf(linesOf(flights)); f.none() || f.beyond(limit) {
		addProblem(r, kindErrors, "%s", f.in("the warmup", limit))
	}
}

// around: failures of settle and of the cooldown, where the window does not say it
// already. An engine that failed requests of settle was not settled; one that
// failed those beside the window's last was not well, and the window's last met less
// load than planned. What failed or was refused on this host is told with the client.
func (j *judge) around() {
	if slices.ContainsFunc(j.problems, func(p metric.Problem) bool { return p.Kind == kindErrors || p.Kind == kindNoData }) {
		return
	}
	limit := j.p.Limits.ErrorRate
	for _, phase := range []metric.Phase{metric.Settle, metric.Cooldown} {
		lines := slices.DeleteFunc(met(j.r, phase), onThisSide)
		// All of a cooldown may be one request, and be cut with the window's last.
		if f := failuresOf(lines); f.beyond(limit) || phase == metric.Settle && f.none() {
			j.problem(kindErrors, "%s", f.in(phaseWord(phase), limit))
		}
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
