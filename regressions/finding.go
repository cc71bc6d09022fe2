package regressions

import (
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// summary is the mean and spread of the runs' values in one arm.
func summary(def metric.Def, values []float64) Summary {
	s := Summary{Runs: len(values)}
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = v
		if def.Scale == metric.Ratio {
			logs[i] = math.Log(v)
		}
	}
	s.Mean = mean(logs)
	for _, x := range logs {
		s.SD += (x - s.Mean) * (x - s.Mean)
	}
	s.SD = math.Sqrt(s.SD / float64(max(len(values)-1, 1)))
	switch {
	case def.Scale == metric.Ratio:
		s.Mean = math.Exp(s.Mean)
	case inPercent(def) && s.Mean > 0:
		s.SD /= s.Mean
	}
	return s
}

// change turns a difference on the scale of the test, where larger is worse,
// into (new − old) ÷ old, or new − old for rates and shares.
func change(def metric.Def, x float64) float64 {
	if def.Better == metric.Higher {
		x = -x
	}
	if def.Scale == metric.Ratio {
		return math.Expm1(x)
	}
	return x
}

// measure fills in the numbers of the estimate, in the units of the metric.
func (f *Finding) measure(margin, level float64) {
	e := f.estimate
	f.Change = change(f.def, e.Diff)
	low, high := e.Interval(0.95)
	f.Low, f.High = change(f.def, low), change(f.def, high)
	if f.Low > f.High {
		f.Low, f.High = f.High, f.Low
	}
	f.Slower, f.Within = e.AtMost(0), e.AtLeast(margin)
	f.MDE = math.Abs(change(f.def, e.MDE(level)))
	f.Significant = math.Abs(change(f.def, e.Line(level)))
}

// plans fills in what it would take to decide.
func (f *Finding) plans(j judging, margin float64) {
	p := f.plan
	if p.starts {
		f.Smallest = math.Abs(change(f.def, f.estimate.Smallest(margin, j.worse)))
		return
	}
	last := j.last()
	f.Resolvable = math.Abs(change(f.def, p.layout.Resolvable(p.s, j.same, p.m, last)))
	f.Smallest = math.Abs(change(f.def, p.layout.Smallest(p.s, margin, j.worse, p.m, last)))
	if f.Status != Inconclusive {
		return
	}
	if diff := f.estimate.Diff; diff >= margin {
		f.Needed = p.layout.ToRegress(p.s, diff, j.worse, p.m)
	} else {
		f.Needed = p.layout.ToPass(p.s, diff, margin, j.same, p.m)
	}
}

// worsens reports that the estimate is at least the margin, so that more runs
// may show a regression.
func (f Finding) worsens() bool {
	return f.estimate.Diff >= marginOf(f.def, f.Margin)
}

// hopeless reports that the last look would not resolve the margin even if
// the noise were at the lower 80 % bound of what was measured, so that no
// engine time is worth spending. It takes ten degrees of freedom to say so,
// and while pairing is still to come the noise that matters is not known.
func (f Finding) hopeless(j judging) bool {
	p := f.plan
	if p.starts || p.later || f.worsens() || f.estimate.DF < 10 {
		return false
	}
	lower := stat.CVLower(p.s, f.estimate.DF, 0.80)
	return p.layout.Resolvable(lower, j.same, p.m, j.last()) > marginOf(f.def, f.Margin)
}

// resolves reports that the last look would pass the estimate with this noise.
func (f Finding) resolves(j judging) bool {
	p := f.plan
	gap := marginOf(f.def, f.Margin) - math.Max(0, f.estimate.Diff)
	return p.starts || p.later || p.layout.Resolvable(p.s, j.same, p.m, j.last()) <= gap
}
