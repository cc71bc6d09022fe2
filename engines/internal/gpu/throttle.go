package gpu

import "github.com/openloop-go/openloop/engines"

// The bits of NVML's nvmlClocksEventReasons. Idle is none of them: a GPU that
// has nothing to do is not held back.
var throttleBits = []struct {
	mask   uint64
	reason engines.Throttle
}{
	{0x20 | 0x40, engines.ThrottleHeat}, // software's, hardware's
	{0x80, engines.ThrottlePowerBrake},
	{0x04, engines.ThrottlePowerLimit},
	{0x10, engines.ThrottleSync},
	{0x02 | 0x100, engines.ThrottleSetting}, // application clocks, display clocks
	{0x200 | 0x400, engines.ThrottleBoard},  // board limit, reliability
	{^uint64(0x7ff), engines.ThrottleOther},
}

const (
	// hardwareBit comes with those for heat and power brake, or alone.
	hardwareBit = 0x08
	hardwareWhy = 0x40 | 0x80
)

// throttles are the reasons in a bit mask.
func throttles(mask uint64) engines.Throttles {
	t := engines.Throttles{Known: true}
	for _, b := range throttleBits {
		if mask&b.mask != 0 {
			t.Reasons = append(t.Reasons, b.reason)
		}
	}
	if mask&hardwareBit != 0 && mask&hardwareWhy == 0 {
		t.Reasons = append(t.Reasons, engines.ThrottleHardware)
	}
	return t
}
