package engines

import "context"

// Sampler is an engine that can read the state of the devices it computes on,
// so that a run on a device that was slowed down is not taken for a slow
// engine.
type Sampler interface {
	// Sample reads the devices as they are now. What a device does not tell is
	// unknown, not an error; err is for devices that could not be asked. It is
	// called about once a second while the engine serves, and must not disturb
	// it.
	Sample(ctx context.Context) ([]Device, error)
}

// Device is the state of one device at one moment.
type Device struct {
	// ID tells the device from others, as a GPU's UUID does; it must be set.
	ID string
	// ClockMHz is the clock of the processors, MemoryClockMHz that of the
	// memory, in MHz.
	ClockMHz, MemoryClockMHz Count
	// Celsius is the temperature in °C, Watts the power drawn in W.
	Celsius, Watts Count
	// Throttles are the reasons for which the clocks are held down at the
	// moment.
	Throttles Throttles
}

// Throttles is a set of reasons that may be unknown. The zero value is unknown;
// none at all is Throttles{Known: true}.
type Throttles struct {
	// Reasons is nil while Known is false.
	Reasons []Throttle
	Known   bool
}

// Throttle is a reason for which a device's clocks are held down. It is a word
// that records keep.
type Throttle string

// The reasons, after NVIDIA's NVML (nvmlClocksEventReasons). The first three
// are a machine that is not what it was; the others are settings, or the
// device as it is meant to be.
const (
	// ThrottleHeat: the device is, or would be, too hot.
	ThrottleHeat Throttle = "heat"
	// ThrottlePowerBrake: the power supply asks for less.
	ThrottlePowerBrake Throttle = "power-brake"
	// ThrottleHardware: the hardware halves the clocks and does not say why.
	ThrottleHardware Throttle = "hardware"
	// ThrottlePowerLimit: more would exceed the power limit that is set.
	ThrottlePowerLimit Throttle = "power-limit"
	// ThrottleSync: another device of its group is slower.
	ThrottleSync Throttle = "sync-boost"
	// ThrottleSetting: clocks that somebody has set.
	ThrottleSetting Throttle = "clock-setting"
	// ThrottleBoard: limits of the board, its reliability included.
	ThrottleBoard Throttle = "board"
	// ThrottleOther: a reason that is not known here.
	ThrottleOther Throttle = "other"
)
