package regressions

import (
	"errors"
	"fmt"
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// Noise is how much one metric varies in a baseline, with what a plan of the
// gate must know of it. The zero value is a metric of unknown name that is
// compared as a ratio and gets better downwards: fill in Margin and SD to plan
// without a baseline.
type Noise struct {
	// Metric is its name, Role what it does in a verdict.
	Metric string
	Role   Role
	// Margin is the change for the worse that is tolerated, relative or, for
	// rates of failures and attainment, absolute.
	Margin float64
	// SD is the standard deviation of the runs, all starts together, on the
	// scale of the test: for a ratio the coefficient of variation, for rates
	// and shares in the metric's unit. It is never below the floor of 0.1 %
	// (or a tenth of a percentage point) that the gate uses.
	SD float64
	// Runs and Starts are the numbers of the baseline's runs and of the engine
	// starts that they come from.
	Runs, Starts int
	// Between is the standard deviation of the starts' means, on the scale of
	// SD; 0 below three starts, where it is not measured.
	Between float64

	def metric.Def
}

// ByStart reports whether the gate takes the start as the unit of its test,
// which it does from five starts of the baseline on. The noise that counts is
// then Between.
func (n Noise) ByStart() bool { return n.Starts >= stat.MinStarts }

// OnTest is a change for the worse on the scale of the test: ln(1 + margin) for
// a ratio.
func (n Noise) OnTest(change float64) float64 { return marginOf(n.def, change) }

// Size is the size of a change from the scale of the test: the inverse of
// OnTest.
func (n Noise) Size(x float64) float64 { return math.Abs(change(n.def, x)) }

// Noise is the noise of the metrics that the gate compares, in its order: as
// many as share the rate of false alarms. A baseline that cannot be trusted,
// has fewer than three runs or lacks a gated metric is an error, and so is a
// metric that shows nothing at the load of the point.
func (g Gate) Noise(base *Baseline) ([]Noise, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	if base == nil {
		return nil, errors.New("regressions: there is no baseline: read one with ReadBaseline")
	}
	if no := conditions(base, base.Arm, against{"baseline", base.accept()}); no != nil {
		return nil, errors.New("regressions: " + no.reason)
	}
	if no := g.blind(base.Point); no != nil {
		return nil, errors.New("regressions: " + no.reason)
	}
	metrics, no := judging{base: base.Arm, cand: base.Arm, gate: g, old: against{"baseline", base.accept()}}.choose()
	if no != nil {
		return nil, errors.New("regressions: " + no.reason)
	}
	var out []Noise
	for _, m := range metrics {
		n, err := noise(base.Arm, m)
		if err != nil {
			return nil, fmt.Errorf("regressions: in the baseline %w", err)
		}
		n.Role = judging{gate: g}.role(m)
		out = append(out, n)
	}
	return out, nil
}

func noise(arm Arm, m Metric) (Noise, error) {
	def := metricDef(m.Name)
	runs, err := samples(arm, def, unit(arm, def))
	if err != nil {
		return Noise{}, err
	}
	n := Noise{Metric: m.Name, Margin: m.Margin, Runs: len(runs), def: def}
	// An arm against itself: the difference is 0, the spread is the arm's.
	e, err := stat.Unpaired(xs(runs), xs(runs), floorOf(def))
	if err != nil {
		return Noise{}, fmt.Errorf("of %s: %w", m.Name, err)
	}
	n.SD = e.S
	starts := byStart(runs)
	if n.Starts = len(starts); n.Starts < stat.DriftStarts {
		return n, nil
	}
	if e, err = stat.Starts(starts, starts, floorOf(def)); err != nil {
		return Noise{}, fmt.Errorf("of %s: %w", m.Name, err)
	}
	n.Between = e.S
	return n, nil
}

// floorOf is what stands in for a smaller standard deviation.
func floorOf(def metric.Def) float64 {
	if def.Scale == metric.Difference {
		return shareFloor
	}
	return stat.Floor
}

// Levels are the nominal one-sided p-values of every look when that many
// comparisons share the rate of false alarms: worse must be undercut to call a
// metric regressed, same to pass it.
func (g Gate) Levels(comparisons int) (worse, same float64, err error) {
	if err := g.Validate(); err != nil {
		return 0, 0, err
	}
	if comparisons < 1 {
		return 0, 0, fmt.Errorf("regressions: comparisons must be positive, got %d", comparisons)
	}
	return g.levels(comparisons)
}
