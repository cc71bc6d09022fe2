package assert

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// family is what a request's own value is, for the metrics that are a
// quantile or a mean over requests.
var family = map[string]func(*metric.Timeline) (time.Duration, bool){
	"ttft-sec":         (*metric.Timeline).TTFT,
	"service-ttft-sec": (*metric.Timeline).ServiceTTFT,
	"tpot-sec":         (*metric.Timeline).TPOT,
	"e2e-sec":          (*metric.Timeline).E2E,
	"lag-sec":          (*metric.Timeline).Lag,
}

// percentiles are the prefixes of metric names that are percentiles.
var percentiles = map[string]float64{"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p999": 0.999}

func percentile(name string) (float64, bool) {
	prefix, _, _ := strings.Cut(name, "-")
	p, ok := percentiles[prefix]
	return p, ok
}

// sectioned is the interval of a metric within one run, from ten batches of
// its requests in the order of their schedule.
func sectioned(name string, pooled float64, r *metric.Record) estimate {
	e := estimate{value: pooled}
	values := requests(name, r)
	p, isPercentile := percentile(name)
	if values == nil || !isPercentile && !strings.HasPrefix(name, "mean-") {
		e.why = "one run of " + name + " has none; make more runs"
		return e
	}
	if need := 10 * stat.Batches; len(values) < need {
		_, of, _ := strings.Cut(name, "-")
		e.why = fmt.Sprintf("the one run has %s of %s, and an interval within a run takes at least %d: make 2 runs or more, or raise Requests or Window", many(len(values), "value"), of, need)
		return e
	}
	statistic := mean
	if isPercentile {
		statistic = func(values []float64) float64 { return nearestRank(values, p) }
	}
	low, high, err := stat.Sectioned(values, statistic, 0.95)
	if err != nil {
		e.why = strings.TrimPrefix(err.Error(), "stat: ") + ": make more runs"
		return e
	}
	e.low, e.high = max(low, 0), high
	e.how = "95 %, ten sections of the one run"
	return e
}

// requests are the values behind a metric, one for each request that has it,
// in the order of the schedule; nil where it is not one of requests.
func requests(name string, r *metric.Record) []float64 {
	_, rest, _ := strings.Cut(name, "-")
	of, known := family[rest]
	if !known {
		return nil
	}
	var values []float64
	for _, q := range r.Counted() {
		if v, ok := of(q); ok && !q.Failed() {
			values = append(values, v.Seconds())
		}
	}
	return values
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }

// nearestRank is the percentile of a batch, which may hold fewer values than
// a percentile to be quoted needs.
func nearestRank(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(p*float64(len(sorted)))), 1)-1]
}
