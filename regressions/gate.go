package regressions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// The defaults of a Gate.
const (
	// DefaultMargin is the slowdown tolerated unless the gate says otherwise.
	DefaultMargin = 0.05
	// DefaultFalseAlarms is the rate of false alarms of a whole job.
	DefaultFalseAlarms = 0.025
	// leastFalseAlarms is the smallest rate that can be asked for.
	leastFalseAlarms = 1e-6
	// passRisk is the probability that a slowdown of exactly the margin passes.
	passRisk = 0.05
	// errorMargin is how much larger a share of failed requests may be.
	errorMargin = 0.005
	// maxMargin is the largest margin that still is a gate.
	maxMargin = 1.0
	// maxGates is the largest number of gates in a job. Beyond it the share of
	// false alarms that each may have is none.
	maxGates = 10_000
)

// Metric is one gated metric.
type Metric struct {
	// Name is a name of package metric, as in "p50-tpot-sec".
	Name string
	// Margin is the change for the worse that is tolerated: relative, but for a
	// rate of failures and for attainment a difference, so that 0.01 is one
	// percentage point. Zero is the gate's margin; for a rate of failures
	// 0.005.
	Margin float64
	// Watch lets the metric make a verdict regressed without having to pass:
	// where its noise cannot resolve its margin, the text says so instead of
	// the verdict being inconclusive. At least one metric must not be watched.
	Watch bool
}

// Gate says what is called a regression. The zero value is the default gate.
type Gate struct {
	// Margin is the relative slowdown that is tolerated; zero is 0.05. A
	// change is regressed only if it is significant and at least the margin,
	// and passes only if it is shown to be smaller. For what gets better
	// upwards it is the relative loss, so that the margin and the change that
	// is printed are the same percentage, (new − old) ÷ old.
	Margin float64
	// Metrics are gated. Nil is the default set, of which those count that the
	// arms have: p50-tpot-sec and p50-e2e-sec with the gate's margin, and
	// goodput-req/s where the point has an SLO; watched, p50-ttft-sec and
	// p95-tpot-sec with twice the margin and p95-ttft-sec with four times,
	// because times to the first token vary by 3 to 25 % between runs where
	// medians of the others vary by about 1 %, and max-ttft-sec and
	// max-itl-sec, which may double: a stall that a median does not see.
	// Error rate, prompt and output lengths and the warmth of the cache are
	// guarded always.
	Metrics []Metric
	// FalseAlarms is the probability that a whole job, all its gates together,
	// calls an unchanged engine regressed; zero is 0.025.
	FalseAlarms float64
	// Gates is the number of points with a baseline in the whole job, among
	// which FalseAlarms is shared; zero is 1. Packages are tested in separate
	// processes, so it must be declared, or counted with CountBaselines.
	Gates int
	// Looks are the numbers of candidate runs at which the gate judges; nil is
	// 3, 5, 8, 12.
	Looks []int
}

// Validate reports everything that is wrong with the gate, joined.
func (g Gate) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("regressions: Gate."+format, args...))
	}
	if !(g.Margin >= 0 && g.Margin <= maxMargin) {
		bad("Margin must be from 0 (the default, %v) to %v, got %v", DefaultMargin, maxMargin, g.Margin)
	}
	if !(g.FalseAlarms == 0 || g.FalseAlarms >= leastFalseAlarms && g.FalseAlarms <= 0.2) {
		bad("FalseAlarms must be from %v to 0.2, or 0 for the default of %v, got %v", leastFalseAlarms, DefaultFalseAlarms, g.FalseAlarms)
	}
	if g.Gates < 0 || g.Gates > maxGates {
		bad("Gates must be from 1 to %d, or 0 for one, got %d", maxGates, g.Gates)
	}
	if g.Looks != nil {
		if err := stat.ValidateLooks(g.Looks); err != nil {
			bad("Looks: %s", strings.TrimPrefix(err.Error(), "looks: "))
		}
	}
	if g.Metrics != nil && len(g.Metrics) == 0 {
		bad("Metrics is empty, which gates nothing: leave it nil for the default set")
	}
	seen := map[string]bool{}
	watched := 0
	for i, m := range g.Metrics {
		if err := m.validate(); err != nil {
			bad("Metrics[%d]%w", i, err)
		}
		if seen[m.Name] {
			bad("Metrics[%d].Name: %s is listed twice", i, m.Name)
		}
		seen[m.Name] = true
		if m.Watch {
			watched++
		}
	}
	if n := len(g.Metrics); n > 0 && watched == n {
		bad("Metrics: all %d are only watched, so nothing would have to pass", n)
	}
	return errors.Join(errs...)
}

func (m Metric) validate() error {
	def, ok := metric.Lookup(m.Name)
	switch {
	case !ok:
		return fmt.Errorf(".Name: unknown metric %q: see metric.Names, as in p50-tpot-sec", m.Name)
	case def.Better == metric.Same:
		return fmt.Errorf(".Name: %s describes the work done and is neither better nor worse: it is guarded always", m.Name)
	case strings.HasSuffix(m.Name, "-lag-sec"):
		return fmt.Errorf(".Name: %s is the load generator's, not the engine's: a late one makes a run invalid", m.Name)
	case !(m.Margin >= 0 && m.Margin <= maxMargin):
		return fmt.Errorf(".Margin of %s must be from 0 (the gate's) to %v, got %v", m.Name, maxMargin, m.Margin)
	}
	return nil
}

func (g Gate) margin() float64 {
	if g.Margin == 0 {
		return DefaultMargin
	}
	return g.Margin
}

func (g Gate) falseAlarms() float64 {
	if g.FalseAlarms == 0 {
		return DefaultFalseAlarms
	}
	return g.FalseAlarms
}

func (g Gate) looks() []int {
	if g.Looks == nil {
		return stat.DefaultLooks()
	}
	return g.Looks
}

// nextLook is the first look after n runs; 0 when there is none.
func (g Gate) nextLook(n int) int {
	for _, look := range g.looks() {
		if look > n {
			return look
		}
	}
	return 0
}

func (g Gate) lastLook() int {
	looks := g.looks()
	return looks[len(looks)-1]
}

// gated are the metrics with their margins filled in. Those of the default
// set are optional: a metric that neither arm has is left out.
func (g Gate) gated() (metrics []Metric, optional bool) {
	if g.Metrics == nil {
		m := g.margin()
		return []Metric{
			{Name: "p50-tpot-sec", Margin: m},
			{Name: "p50-e2e-sec", Margin: m},
			{Name: goodput, Margin: m},
			{Name: "p50-ttft-sec", Margin: min(2*m, maxMargin), Watch: true},
			{Name: "p95-tpot-sec", Margin: min(2*m, maxMargin), Watch: true},
			{Name: "p95-ttft-sec", Margin: min(4*m, maxMargin), Watch: true},
			{Name: "max-ttft-sec", Margin: maxMargin, Watch: true},
			{Name: "max-itl-sec", Margin: maxMargin, Watch: true},
		}, true
	}
	for _, m := range g.Metrics {
		if m.Margin == 0 {
			m.Margin = g.defaultMargin(m)
		}
		metrics = append(metrics, m)
	}
	return metrics, false
}

// levels are the nominal one-sided p-values of a look when k comparisons share
// the rate of false alarms.
func (g Gate) levels(k int) (worse, same float64, err error) {
	if worse, err = stat.Nominal(g.looks(), g.falseAlarms()/float64(k)); err != nil {
		return 0, 0, err
	}
	same, err = stat.Nominal(g.looks(), passRisk)
	return worse, same, err
}
