package assert

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// closedName is what a latency of a closed loop has to be asked for by.
const closedName = "closed-"

// echoed is why throughput is not gated on an open loop.
const echoed = "throughput below saturation is the offered load echoed back"

// Latency asserts that a quantile (or mean, or maximum) of a latency, pooled
// over the runs, is at most limit. The metric is named as package metric
// does, "p99-ttft-sec" for instance; its time runs from the schedule.
//
// It is refused where it would not be true: on a queue that grows; on one
// that is undecided, unless the load is serial or known to be at most 0.7 of
// the capacity (Point.Capacity); for a percentile with too few requests; and
// on a closed loop, unless that is named, as in "closed-p50-tpot-sec", or is
// serial. A percentile that falls among the requests that failed does not
// exist, and fails.
func Latency(t TestingT, runs *benchtest.Runs, name string, limit time.Duration, msgAndArgs ...any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	base, named := strings.CutPrefix(name, closedName)
	if bad, ok := latencyAsked(base, limit); !ok {
		return fail(t, bad, msgAndArgs)
	}
	if bad, ok := check(runs); !ok {
		return fail(t, bad, msgAndArgs)
	}
	records := runs.Records
	if bad, ok := latencyOn(records, name, base, named); !ok {
		return fail(t, bad, msgAndArgs)
	}
	value, err := metric.PooledValue(base, records...)
	if err != nil {
		bad := reportf("%s, want at most %v: no value: %v", name, limit, err)
		var few *metric.TooFew
		if errors.As(err, &few) {
			bad.add("next", "raise Requests or Runs, or ask for a lower percentile")
		}
		bad.at = at(records)
		return fail(t, bad, msgAndArgs)
	}
	holds := value <= limit.Seconds() // false for NaN
	shown := seconds(value)
	if shown == limit.String() && value != limit.Seconds() {
		shown = exact(value) + "s"
	}
	r := reportf("%s %s, want at most %v", name, shown, limit)
	if holds {
		r = reportf("%s %s, at most %v was asked", name, shown, limit)
	}
	e := overRuns(base, value, records)
	if e.interval() {
		r.add("interval", "%s … %s (%s)", seconds(e.low), seconds(e.high), e.how)
	} else {
		r.add("interval", "none: %s", e.why)
	}
	if e.inside(limit.Seconds()) {
		r.add("note", "the limit lies inside the interval: another set of runs could end on its other side")
	}
	if strings.Contains(base, "-itl-") && !gapsAreTokens(records) {
		r.add("note", "events may carry several tokens, so these are gaps between events, not between tokens")
	}
	finished, failed := fates(records...)
	r.add("requests", "%s finished, %s failed", count(finished), count(failed))
	if p, ok := percentile(base); ok && holds && beyond(p, finished, failed) {
		r.head = name + " does not exist: so many requests failed that the percentile is one of them"
		holds = false
	}
	r.replaced(runs)
	r.at = at(records)
	if !holds {
		return fail(t, r, msgAndArgs)
	}
	return pass(t, r)
}

// latencyAsked checks what the caller asked for.
func latencyAsked(name string, limit time.Duration) (report, bool) {
	def, known := metric.Lookup(name)
	switch {
	case !known:
		_, err := metric.PooledValue(name)
		return reportf("assert: Latency: %v", err), false
	case throughput(name):
		return reportf("assert: Latency: %s is refused: %s", name, echoed), false
	case def.Unit != "sec":
		return reportf("assert: Latency: %s is no latency, it is in %s: ask for one such as p99-ttft-sec", name, def.Unit), false
	case limit <= 0:
		return reportf("assert: Latency limit must be positive, got %v", limit), false
	}
	return report{}, true
}

// latencyOn says why a latency of these runs would not be a user's.
func latencyOn(records []*metric.Record, name, base string, named bool) (report, bool) {
	first := records[0]
	if named && (!closed(first) || serial(first)) {
		bad := reportf("assert: Latency: %s names a closed loop, but this is %s: ask for %s", name, loop(first), base)
		bad.at = at(records)
		return bad, false
	}
	if closed(first) && !serial(first) && !named {
		bad := reportf("%s is refused on a closed loop (%d in flight): it waits for the engine before it sends, so the queue that users stand in never forms", name, first.InFlight)
		bad.add("next", "use an arrival process, or ask for %s%s if that is what you mean", closedName, base)
		bad.at = at(records)
		return bad, false
	}
	return steadyEnough(name, records)
}

func throughput(name string) bool {
	def, _ := metric.Lookup(name)
	return def.Unit == "req/s" || def.Unit == "tok/s"
}

// overRuns is the t interval of a metric over runs, around the pooled value;
// with one run it is found by sectioning it.
func overRuns(name string, pooled float64, records []*metric.Record) estimate {
	if len(records) == 1 {
		return sectioned(name, pooled, records[0])
	}
	e := estimate{value: pooled}
	var values []float64
	for _, r := range records {
		v, err := valueOf(name, r)
		if err != nil {
			e.why = "not in every run: " + err.Error()
			return e
		}
		values = append(values, v)
	}
	centre, squares := mean(values), 0.0
	for _, v := range values {
		squares += (v - centre) * (v - centre)
	}
	n := float64(len(values))
	e = e.over(len(values), math.Sqrt(squares/(n-1)/n))
	e.low = max(e.low, 0)
	return e
}

// valueOf is a metric of one run. For the spread over runs a percentile of too
// few requests to be quoted will do.
func valueOf(name string, r *metric.Record) (float64, error) {
	v, err := r.Value(name)
	var few *metric.TooFew
	if p, ok := percentile(name); ok && errors.As(err, &few) {
		if values := requests(name, r); len(values) > 0 {
			return nearestRank(values, p), nil
		}
	}
	return v, err
}

// gapsAreTokens reports that the gaps of every run are those between tokens.
func gapsAreTokens(records []*metric.Record) bool {
	return !slices.ContainsFunc(records, func(r *metric.Record) bool { return !r.GapsAreTokens() })
}

// beyond reports that the nearest rank of p among all requests, with the
// failed ones slower than any other, is a failed one.
func beyond(p float64, finished, failed int) bool {
	return math.Ceil(p*float64(finished+failed)) > float64(finished)
}
