package regressions_test

import (
	"testing"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

// What cannot show a slower engine at a load is refused there, also offline:
// the tokens a second of an open loop were 0.2 % apart with a decode 5 % slower,
// and those of a closed loop 5 % with one 10 % slower.
func TestWhatALoadCannotShowIsRefused(t *testing.T) {
	at := func(pairs []metric.Pair) regressions.Arm {
		a := arm(5, 1, func(i int) map[string]float64 {
			return map[string]float64{"p50-tpot-sec": 0.0058 + 0.00001*float64(i), "output-tok/s": 1000 - float64(i), "completed-req/s": 4 - 0.01*float64(i)}
		})
		a.Point, a.PointHash = pairs, metric.Hash(pairs)
		return a
	}
	serial := []metric.Pair{{Key: "in-flight", Value: "1"}}
	named := func(names ...string) (g regressions.Gate) {
		for _, name := range names {
			g.Metrics = append(g.Metrics, regressions.Metric{Name: name})
		}
		return g
	}
	for _, row := range []struct {
		name           string
		point          []metric.Pair
		gate           regressions.Gate
		reason, remedy string // "" for a pass
	}{
		{"throughputs of an open loop", point, named("p50-tpot-sec", "output-tok/s", "completed-req/s"),
			"refused on an open loop: output-tok/s, completed-req/s: throughput below saturation is the offered load echoed back", "gate a latency here, or the throughput of a closed loop"},
		{"a closed loop that nobody asked for", closed, regressions.Gate{},
			"the default metrics are refused on a closed loop (64 in flight): it turns a slowdown into a smaller one of throughput and hides the queue", "measure an arrival process or one in flight, or name the metrics if a closed loop is what you mean"},
		{"an open loop", point, regressions.Gate{}, "", ""},
		{"a closed loop's throughput by name", closed, named("output-tok/s"), "", ""},
		{"one in flight", serial, regressions.Gate{}, "", ""},
		{"one in flight, its throughput", serial, named("output-tok/s"), "", ""},
	} {
		old, now := stored(at(row.point)), latest(at(row.point))
		for how, v := range map[string]regressions.Verdict{
			"judged":   regressions.Judge(old, now, row.gate),
			"compared": regressions.Compare(old, stored(now), row.gate),
		} {
			if row.reason == "" {
				assert.Equal(t, regressions.Pass, v.Status, "%s, %s: %s", row.name, how, v.Text())
				continue
			}
			assert.Equal(t, regressions.Invalid, v.Status, "%s, %s", row.name, how)
			assert.Equal(t, row.reason, v.Reason, "%s, %s", row.name, how)
			assert.Equal(t, row.remedy, v.Remedy, "%s, %s", row.name, how)
		}
	}
}
