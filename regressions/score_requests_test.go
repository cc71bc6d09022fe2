package regressions_test

import (
	"math"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// latency is a time that every request has, for those who look at requests.
type latency struct {
	name string
	get  func(*metric.Timeline) (time.Duration, bool)
}

var latencies = []latency{
	{"TTFT", (*metric.Timeline).TTFT},
	{"TPOT", (*metric.Timeline).TPOT},
	{"E2E", (*metric.Timeline).E2E},
}

// values are those of the window's successful requests, in seconds.
func (l latency) values(r *metric.Record) []float64 { return pooled([]*metric.Record{r}, l) }

func pooled(records []*metric.Record, l latency) []float64 {
	var out []float64
	for _, r := range records {
		for _, q := range r.Counted() {
			if v, ok := l.get(q); ok && !q.Failed() {
				out = append(out, v.Seconds())
			}
		}
	}
	return out
}

// statistics are what a benchmark prints of a latency.
var statistics = []struct {
	name string
	of   func(values []float64) float64
}{
	{"mean", average},
	{"p50", func(values []float64) float64 { return rank(values, 0.5) }},
	{"p99", func(values []float64) float64 { return rank(values, 0.99) }},
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// rank is the nearest rank, whatever the number of values: 0 for none, as
// printed by those who have no word for what is missing.
func rank(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(p*float64(len(sorted)))), 1)-1]
}
