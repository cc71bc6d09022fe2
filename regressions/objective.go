package regressions

import "github.com/openloop-go/openloop/benchtest/metric"

// The metrics that count what met the SLO of the point.
const (
	goodput    = "goodput-req/s"
	attainment = "attainment"
)

// objective checks that a metric which counts by the SLO was counted by the
// same one in both arms, and that there was something to lose.
func (j judging) objective(m Metric) *refusal {
	if m.Name != goodput && m.Name != attainment {
		return nil
	}
	if was, now := j.base.SLO, j.cand.SLO; was != now {
		return refuse(j.old.renew("keep the SLO, or accept the new one with its goodput: "),
			"the SLO changed, so that %s does not compare: %s in %s, %s here", m.Name, was, j.old, now)
	}
	if m.Name == attainment {
		return nil
	}
	was, _ := armMean(j.base, goodput)
	if !(was > 0) {
		return refuse("set an SLO that the engine meets at this load, or gate other metrics by name",
			"goodput is %v req/s in %s: no request met the SLO (%s), so there is none to lose", was, j.old, j.base.SLO)
	}
	return nil
}

// inPercent reports whether changes of the metric are relative: by logarithms
// or, for goodput, whose zero is a legal value, as differences that are taken
// in units of the baseline's mean.
func inPercent(def metric.Def) bool { return def.Scale == metric.Ratio || def.Name == goodput }

// unit is what a metric's values are taken in: 1, or the baseline's mean.
func unit(base Arm, def metric.Def) float64 {
	if was, ok := armMean(base, def.Name); def.Name == goodput && ok && was > 0 {
		return was
	}
	return 1
}

// defaultMargin is a metric's margin where the gate leaves it open.
func (g Gate) defaultMargin(m Metric) float64 {
	def := metricDef(m.Name)
	if def.Scale == metric.Difference && def.Better == metric.Lower {
		return errorMargin
	}
	return g.margin()
}
