package regressions

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// signed writes a relative change with its sign, as in "+11.2 %".
func signed(x float64) string {
	if math.IsNaN(x) {
		return "unknown"
	}
	digits := 1
	if math.Abs(x) >= 1 {
		digits = 0
	}
	return withSign(strconv.FormatFloat(math.Abs(100*x), 'f', digits, 64), x) + " %"
}

// withSign puts a sign before the digits of x, none before a zero.
func withSign(digits string, x float64) string {
	switch {
	case strings.Trim(digits, "0.") == "":
		return digits
	case x < 0:
		return "−" + digits
	}
	return "+" + digits
}

// percent writes a share or a size, as in "5 %" or "0.25 %".
func percent(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "unbounded"
	}
	if x >= 0.9995 {
		return strconv.FormatFloat(100*x, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(100*x, 'g', 3, 64) + " %"
}

// tenths writes a size with one digit, as in "0.9 %".
func tenths(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "unbounded"
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
}

// quantity writes a value of a metric with its unit and three digits.
func quantity(def metric.Def, x float64) string {
	switch {
	case def.Unit == "sec":
		return seconds(x)
	case def.Unit == "share":
		return percent(x)
	case math.Abs(x) >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64) + " " + def.Unit
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + " " + def.Unit
}

// seconds writes a time with three digits, as in "5.78ms".
func seconds(x float64) string {
	for _, u := range []struct {
		unit float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if math.Abs(x) >= u.unit {
			return three(x/u.unit) + u.name
		}
	}
	return three(x/1e-9) + "ns"
}

// three writes a number of less than a thousand with three digits, a larger
// one with all before the point.
func three(x float64) string {
	digits := 2
	for limit := 10.0; math.Abs(x) >= limit && digits > 0; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// spread writes the variation between runs.
func spread(def metric.Def, s Summary) string {
	if inPercent(def) {
		return tenths(s.SD)
	}
	return quantity(def, s.SD)
}

// moved writes the change of a finding and what it means in words.
func (f Finding) moved() string {
	// The change decides, not the means: against a control they may differ.
	now := f.Baseline.Mean + f.Change
	if inPercent(f.def) {
		now = f.Baseline.Mean * (1 + f.Change)
	}
	delta, words := f.delta(f.Change), f.def.Words(f.Baseline.Mean, now)
	if !strings.ContainsAny(delta, "+−") {
		words = "equal" // as far as it is printed
	}
	return delta + " " + words
}

// delta writes a change on the metric's scale.
func (f Finding) delta(x float64) string {
	if inPercent(f.def) {
		return signed(x)
	}
	if f.def.Unit == "share" {
		return withSign(strconv.FormatFloat(math.Abs(100*x), 'f', 2, 64), x) + " points"
	}
	return withSign(strconv.FormatFloat(math.Abs(x), 'g', 3, 64), x) + " " + f.def.Unit
}

// size writes a margin or an MDE on the metric's scale.
func (f Finding) size(x float64) string {
	if inPercent(f.def) {
		return percent(x)
	}
	if f.def.Unit == "share" {
		return strconv.FormatFloat(100*x, 'g', 3, 64) + " points"
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + " " + f.def.Unit
}

// rough writes a size that is an estimate, with one digit after the point.
func (f Finding) rough(x float64) string {
	if inPercent(f.def) {
		return tenths(x)
	}
	return f.size(x)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
