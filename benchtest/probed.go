package benchtest

import (
	"fmt"
	"strconv"
	"strings"
)

// Probed is what a probe found. Its String is the report, with the line to
// write into a test. It makes no points itself: see Capacity.
type Probed struct {
	// InFlight is the number of requests in flight that the rates are of.
	InFlight int
	// Rate is the mean over runs of the requests completed a second; Low and
	// High are its 95 % interval, by Student's t over the runs.
	Rate, Low, High float64
	// PromptTokens and OutputTokens are tokens a second at that rate; 0 where
	// the engine does not count them.
	PromptTokens, OutputTokens float64
	// Levels are the steps of the climb; none where InFlight was given.
	Levels []Level
	// On is what was measured: engine, model, hardware.
	On []string
}

// Level is one step of a climb.
type Level struct {
	InFlight int
	// Rate is the number of requests completed a second, in one run.
	Rate float64
}

// String is the report: the capacity with its uncertainty, the climb, and the
// Go code to write into the test, in which the rate has two digits.
func (f Probed) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "capacity %s req/s, 95 %% interval %s … %s (t over %d runs), %d in flight", three(f.Rate), three(f.Low), three(f.High), probeRuns, f.InFlight)
	if f.PromptTokens > 0 && f.OutputTokens > 0 {
		fmt.Fprintf(&b, ", %.0f prompt and %.0f output tok/s", f.PromptTokens, f.OutputTokens)
	}
	b.WriteByte('\n')
	if len(f.On) > 0 {
		fmt.Fprintf(&b, "on       %s\n", strings.Join(f.On, ", "))
	}
	if len(f.Levels) > 0 {
		var steps []string
		for _, l := range f.Levels {
			steps = append(steps, fmt.Sprintf("%d: %s", l.InFlight, three(l.Rate)))
		}
		fmt.Fprintf(&b, "climb    %s req/s\n", strings.Join(steps, ", "))
	}
	c := Capacity(rounded(f.Rate, writtenDigits))
	number := strconv.FormatFloat(float64(c), 'f', -1, 64)
	fmt.Fprintf(&b, "write    const capacity benchtest.Capacity = %s // req/s\n", number)
	b.WriteString("         and leave it: the rates follow from it, and a baseline is of one rate\n")
	for _, load := range []struct {
		call  string
		point Point
	}{{"Serial", c.Serial(nil)}, {"Quiet", c.Quiet(nil)}, {"Knee", c.Knee(nil)}} {
		fmt.Fprintf(&b, "         capacity.%-16s // %s, %d requests a run\n", load.call+"(workload)", load.point.loadName(), load.point.Requests)
	}
	return b.String()
}

// three is a rate with three significant digits, in plain decimals.
func three(x float64) string {
	digits := 2
	for limit := 10.0; x >= limit && digits > 0; limit *= 10 {
		digits--
	}
	for limit := 1.0; x > 0 && x < limit && digits < 8; limit /= 10 {
		digits++
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}
