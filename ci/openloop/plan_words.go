package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// percent writes what was given, as in "5 %" or "2.5 %".
func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 4, 64) + " %" }

// tenths writes what was computed, with one digit, or two below 1 %.
func tenths(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || x >= 1000:
		return "unbounded"
	case x == 0 || x == 1:
		return percent(x)
	case math.Abs(x) < 0.00995:
		return strconv.FormatFloat(100*x, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
}

// chance writes a share of simulated gates.
func chance(x number) string {
	switch p := float64(x); {
	case p == 0 || p == 1:
		return percent(p)
	case p < 0.0005:
		return "<0.1 %"
	case p >= 0.9995:
		return ">99.9 %"
	default:
		return strconv.FormatFloat(100*p, 'f', 1, 64) + " %"
	}
}

// three writes a number with three digits, and all before the point.
func three(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// list writes looks as the flag takes them.
func list(looks []int) string {
	parts := make([]string, len(looks))
	for i, n := range looks {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ",")
}

// ratio reports whether sizes of the metric are relative; those of shares are
// in points.
func (m *metricForecast) ratio() bool {
	def, _ := metric.Lookup(m.Metric)
	return def.Unit != "share"
}

// higher reports whether the metric gets better upwards, so that it cannot get
// worse by more than all of it.
func (m *metricForecast) higher() bool {
	def, _ := metric.Lookup(m.Metric)
	return def.Better == metric.Higher
}

// size writes a margin as it was given, amount a size that was computed.
func (m *metricForecast) size(x number) string {
	if !m.ratio() {
		return m.amount(float64(x))
	}
	return percent(float64(x))
}

func (m *metricForecast) amount(x float64) string {
	if m.ratio() {
		return tenths(x)
	}
	return strings.TrimSuffix(tenths(x), " %") + " points"
}

// planned writes the variation that is planned with, as it was given where it
// was.
func (m *metricForecast) planned() string {
	if m.CV == m.PlannedCV {
		return m.size(m.CV)
	}
	return m.amount(float64(m.PlannedCV))
}

// arms writes a look of n candidate units.
func (m *metricForecast) arms(n int) string {
	if m.planner.Layout == stat.Interleaved {
		return fmt.Sprintf("%d + %d runs", n, n)
	}
	return fmt.Sprintf("%s against %d stored", plural(n, m.Unit), m.Stored)
}

// against writes what would do.
func (m *metricForecast) against(candidate, baseline int) string {
	if m.planner.Layout == stat.Interleaved {
		return fmt.Sprintf("%d of each arm", candidate)
	}
	return fmt.Sprintf("%d against %d stored", candidate, baseline)
}

// cost writes the engine minutes of a look of n runs, in brackets.
func (m *metricForecast) cost(o planOptions, n int) string {
	if m.Unit != "run" || o.minutes == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s engine minutes)", three(float64(n)*m.minutes(o)))
}

// marginFlag is the flag that sets the metric's margin.
func (m *metricForecast) marginFlag(x float64) string {
	typed := strings.ReplaceAll(percent(x), " ", "")
	if m.Metric == "" {
		return "-margin " + typed
	}
	return "-metrics " + m.Metric + "=" + typed
}
