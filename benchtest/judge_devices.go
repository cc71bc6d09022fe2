package benchtest

import (
	"fmt"
	"math"
	"strings"

	"github.com/openloop-go/openloop/engines"
)

const (
	// throttleLimit is the share of the samples in which a device may be held
	// down by a fault of its own. One sample of 100 may be a change of clocks.
	throttleLimit = 0.01
	// driftLimit is the relative change of the clock, within the window, that
	// is told: what it does to the engine is within the margins of gates.
	driftLimit = 0.02
)

// causes are the words for reasons.
var causes = map[engines.Throttle]string{
	engines.ThrottleHeat:       "heat",
	engines.ThrottlePowerBrake: "the power supply's brake",
	engines.ThrottleHardware:   "the hardware, which does not say why",
	engines.ThrottlePowerLimit: "the power limit",
	engines.ThrottleSync:       "another GPU of its sync-boost group",
	engines.ThrottleBoard:      "the board's limits",
	engines.ThrottleOther:      "a reason not known here",
}

// devices: whether the machine was what it is at other times.
func (j *judge) devices() {
	c := j.r.Counters
	if share := c[deviceThrottled]; share > throttleLimit {
		j.problem(kindThrottled, "the clocks of the engine's device were held down by %s in %s of %.0f samples of the window%s, limit %s: it was not the machine that it is at other times; cool it, or set lower clocks for every arm (nvidia-smi -lgc)",
			strings.Join(j.held(faults...), ", "), percent(share), c[deviceSamples], j.clocks(), percent(throttleLimit))
	} else if share > 0 {
		j.warn("the clocks of the engine's device were held down by %s in %s of %.0f samples of the window%s", strings.Join(j.held(faults...), ", "), percent(share), c[deviceSamples], j.clocks())
	}
	for _, why := range []engines.Throttle{engines.ThrottlePowerLimit, engines.ThrottleSync, engines.ThrottleBoard, engines.ThrottleOther} {
		if share := c[deviceThrottle+string(why)]; share > throttleLimit {
			j.warn("the clocks of the engine's device were held down by %s in %s of %.0f samples of the window%s: compare only with runs under the same limits", causes[why], percent(share), c[deviceSamples], j.clocks())
		}
	}
	if by, ok := c[deviceClockDrift]; ok && !(math.Abs(by) <= driftLimit) {
		j.warn("the clock of the engine's device changed by %+.1f %% from the first quarter of the window to the last%s: warm it up for longer (Point.Warmup), or set its clocks (nvidia-smi -lgc)", 100*by, j.clocks())
	}
}

// held are the words for those of the reasons that were seen.
func (j *judge) held(reasons ...engines.Throttle) (words []string) {
	for _, why := range reasons {
		if j.r.Counters[deviceThrottle+string(why)] > 0 {
			words = append(words, causes[why])
		}
	}
	return words
}

// clocks is " (1410 … 1980 MHz, up to 88 °C)", as far as it is known.
func (j *judge) clocks() string {
	var parts []string
	low, ok := j.r.Counters[deviceClockMin]
	if high, also := j.r.Counters[deviceClockMax]; ok && also {
		parts = append(parts, fmt.Sprintf("%.0f … %.0f MHz", low, high))
	}
	if heat, ok := j.r.Counters[deviceCelsius]; ok {
		parts = append(parts, fmt.Sprintf("up to %.0f °C", heat))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
