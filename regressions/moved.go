package regressions

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// moved are metrics that decide nothing and tell something that the gated ones
// do not: they changed significantly and by at least the gate's margin, and by
// a margin more or less than the gated metric of their family; the runs with
// the same arrivals must say so too, since tails hang on the arrivals most. Of
// each family it is the one that moved furthest.
func (j judging) moved(findings []Finding) []Finding {
	furthest := map[string]Finding{}
	for _, name := range metric.Names() {
		def := metricDef(name)
		if def.Better == metric.Same || def.Scale != metric.Ratio || echo(name) || !j.base.has(name) || !j.cand.has(name) || j.incomparable(name) != "" ||
			slices.ContainsFunc(findings, func(f Finding) bool { return f.Metric == name }) {
			continue
		}
		f, err := j.find(Metric{Name: name, Margin: j.gate.margin()})
		if err != nil {
			continue
		}
		margin := marginOf(def, f.Margin)
		shown := math.Min(f.Slower, 1-f.Slower) <= j.worse && math.Abs(f.estimate.Diff) >= margin &&
			(math.IsNaN(f.matched) || math.Abs(f.matched) >= margin)
		if !shown || math.Abs(f.estimate.Diff-reference(findings, name)) < margin {
			continue
		}
		f.Role, f.Status = Reported, ""
		if old, ok := furthest[family(name)]; !ok || math.Abs(f.estimate.Diff) > math.Abs(old.estimate.Diff) {
			furthest[family(name)] = f
		}
	}
	var out []Finding
	for _, f := range furthest {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(math.Abs(b.estimate.Diff), math.Abs(a.estimate.Diff)), cmp.Compare(a.Metric, b.Metric))
	})
	return out
}

// reference is the difference of the gated metric of the same family, 0 where
// there is none.
func reference(findings []Finding, name string) float64 {
	for _, f := range findings {
		if family(f.Metric) == family(name) {
			return f.estimate.Diff
		}
	}
	return 0
}

// family is what metrics are of, whatever the quantile. Gaps between events
// and the time per token are one, and so are throughputs.
func family(name string) string {
	if strings.HasSuffix(name, "/s") {
		return "throughput"
	}
	_, rest, _ := strings.Cut(name, "-")
	return strings.Replace(rest, "itl", "tpot", 1)
}

// echo tells metrics that repeat others, or the load that was offered.
func echo(name string) bool {
	return strings.HasPrefix(name, "mean-") || strings.Contains(name, "service-ttft") ||
		strings.HasPrefix(name, "prompt-tok") || strings.HasPrefix(name, "total-tok")
}
