package regressions

import (
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// blind refuses what cannot show a slower engine at the load of the point: the
// throughput of an open loop, and of a closed loop all that is not named.
func (g Gate) blind(point []metric.Pair) *refusal {
	load := values(point)
	if n := load["in-flight"]; n != "" && n != "1" && g.Metrics == nil {
		return refuse("measure an arrival process or one in flight, or name the metrics if a closed loop is what you mean",
			"the default metrics are refused on a closed loop (%s in flight): it turns a slowdown into a smaller one of throughput and hides the queue", n)
	}
	if load["arrivals"] == "" {
		return nil
	}
	var echoed []string
	for _, m := range g.Metrics {
		if unit := metricDef(m.Name).Unit; m.Name != goodput && slices.Contains([]string{"req/s", "tok/s"}, unit) {
			echoed = append(echoed, m.Name)
		}
	}
	if echoed == nil {
		return nil
	}
	return refuse("gate a latency here, or the throughput of a closed loop",
		"refused on an open loop: %s: throughput below saturation is the offered load echoed back", strings.Join(echoed, ", "))
}
