package assert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/openloop-go/openloop/regressions/stat"
)

// gateable refuses metrics that cannot show a regression at this load, before
// anything is compared or stored. All of them are told at once.
func (g *gating) gateable() (report, bool) {
	records := g.runs.Records
	first := records[0]
	if closed(first) && !serial(first) && g.gate.Metrics == nil {
		bad := reportf("%s is refused on a closed loop (%d in flight): it turns a slowdown into a smaller one of throughput and hides the queue", g.name, first.InFlight)
		bad.add("next", "use an arrival process or one in flight, or name the metrics in Gate.Metrics if a closed loop is what you mean")
		bad.at = at(records)
		return bad, false
	}
	var heads, next []string
	for _, m := range g.gate.Metrics {
		if throughput(m.Name) && !closed(first) {
			heads = append(heads, fmt.Sprintf("assert: Gate.Metrics: %s on an open loop is refused: %s", m.Name, echoed))
			next = append(next, "gate a latency here, or the throughput of a closed loop")
			continue
		}
		for _, r := range records {
			_, err := r.Value(m.Name)
			var few *metric.TooFew
			if errors.As(err, &few) {
				heads = append(heads, fmt.Sprintf("assert: Gate.Metrics: %s is refused in runs of this size: %v in each run, since runs are compared and not pooled", m.Name, few))
				next = append(next, "raise Requests (or Window), or gate a lower percentile")
				break
			}
		}
	}
	if len(heads) == 0 {
		return report{}, true
	}
	bad := reportf("%s", strings.Join(heads, "\n"))
	for i, text := range next {
		if i == 0 || text != next[i-1] {
			bad.add("next", "%s", text)
		}
	}
	bad.at = at(records)
	return bad, false
}

// standsFor says which slowdown of the engine the margin on p50 TPOT is at
// this load; "" where the capacity, or what the load does, is not known.
func standsFor(records []*metric.Record, gate regressions.Gate) string {
	const name = "p50-tpot-sec"
	margin := gate.Margin
	if margin == 0 {
		margin = regressions.DefaultMargin
	}
	gated := gate.Metrics == nil
	for _, m := range gate.Metrics {
		if m.Name == name {
			gated = true
			if m.Margin > 0 {
				margin = m.Margin
			}
		}
	}
	first := records[0]
	if !gated || closed(first) || !(first.Capacity > 0) {
		return ""
	}
	offered := 0.0
	for _, r := range records {
		offered += r.Rate / float64(len(records))
	}
	share := offered / first.Capacity
	load, err := stat.AtLoad(share)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("at %.2f of the capacity a margin of %s on %s is a decode about %.1f %% slower (by the embedded engine's loads)", share, fmt.Sprintf("%.3g %%", 100*margin), name, 100*load.StandsFor(margin))
}
