package benchtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// sampler is the state of the devices as a function of how often it was asked,
// from 0, and of the time since it was made.
type sampler struct {
	sample func(n int) ([]engines.Device, error)
	n      int
	at     []time.Time
}

func (a *sampler) Sample(context.Context) ([]engines.Device, error) {
	a.n++
	a.at = append(a.at, time.Now())
	return a.sample(a.n - 1)
}

// gpu is a device at a clock and a temperature, held down for reasons.
func gpu(mhz, celsius int, why ...engines.Throttle) engines.Device {
	return engines.Device{
		ID: "GPU-1", ClockMHz: engines.Known(mhz), MemoryClockMHz: engines.Known(3201),
		Celsius: engines.Known(celsius), Watts: engines.Known(600),
		Throttles: engines.Throttles{Reasons: why, Known: true},
	}
}

// windowed measures a run whose window takes ten seconds.
func windowed(t *testing.T, s *sampler) *metric.Record {
	t.Helper()
	engine := struct {
		*script
		*sampler
	}{quick(), s}
	return one(t, engine, usual())
}

func TestDevicesAreSampledOverTheWindow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &sampler{sample: func(n int) ([]engines.Device, error) { return []engines.Device{gpu(1980-n, 60+n)}, nil }}
		r := windowed(t, s)
		assert.Empty(t, r.Problems)
		// Ten seconds, one sample at the beginning and one each second.
		assert.Len(t, s.at, 11)
		assert.Equal(t, 10*time.Second, s.at[10].Sub(s.at[0]))
		assert.Equal(t, r.Time.Add(r.From).UnixNano(), s.at[0].UnixNano())
		first, last := 1979.5, 1970.5 // in two samples each
		assert.Equal(t, map[string]float64{
			"device_samples": 11, "device_clock_min_mhz": 1970, "device_clock_mean_mhz": 1975, "device_clock_max_mhz": 1980,
			"device_clock_drift": last/first - 1, "device_memory_clock_min_mhz": 3201,
			"device_temperature_max_celsius": 70, "device_power_mean_watts": 600, "device_throttled": 0,
		}, r.Counters)
		assert.NotContains(t, r.Unrecorded, "GPU clocks and temperature")
	})
}

func TestASlowSamplerIsAskedLessOften(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &sampler{sample: func(int) ([]engines.Device, error) {
			time.Sleep(40 * time.Millisecond)
			return []engines.Device{gpu(1980, 60)}, nil
		}}
		windowed(t, s)
		assert.Len(t, s.at, 3, "40 ms may be asked for every 4 s")
	})
}

func TestDevicesThatCannotBeRead(t *testing.T) {
	const warning = "the engine's devices could not be read: no driver"
	for _, c := range []struct {
		name     string
		sample   func(n int) ([]engines.Device, error)
		warnings []string
		want     map[string]float64
	}{
		{"never", func(int) ([]engines.Device, error) { return nil, errors.New("no driver\nmore") }, []string{warning}, map[string]float64{}},
		{"it panics", func(int) ([]engines.Device, error) { panic("no driver") },
			[]string{"the engine's devices could not be read: panic in Sample: no driver"}, map[string]float64{}},
		{"now and then", func(n int) ([]engines.Device, error) {
			if n%2 == 0 {
				return nil, errors.New("no driver")
			}
			return []engines.Device{gpu(1980, 60)}, nil
		}, nil, map[string]float64{
			"device_samples": 5, "device_clock_min_mhz": 1980, "device_clock_mean_mhz": 1980, "device_clock_max_mhz": 1980,
			"device_memory_clock_min_mhz": 3201, "device_temperature_max_celsius": 60, "device_power_mean_watts": 600, "device_throttled": 0,
		}},
		{"there are none", func(int) ([]engines.Device, error) { return nil, nil }, nil, map[string]float64{}},
		{"nothing is known of it", func(int) ([]engines.Device, error) { return []engines.Device{{ID: "GPU-1"}}, nil }, nil,
			map[string]float64{"device_samples": 11}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := windowed(t, &sampler{sample: c.sample})
				assert.Empty(t, r.Problems)
				assert.Equal(t, c.warnings, r.Warnings)
				assert.Equal(t, c.want, r.Counters)
				if _, known := c.want[deviceCelsius]; !known {
					assert.Contains(t, r.Unrecorded, "GPU clocks and temperature")
				}
			})
		})
	}
}

// Of several devices the worst counts: one slow GPU slows the engine.
func TestTheWorstDeviceCounts(t *testing.T) {
	other := gpu(1410, 88, engines.ThrottleHeat, engines.ThrottlePowerLimit)
	other.ID = "GPU-2"
	other.Watts = engines.Count{}
	calm := other
	calm.Throttles = engines.Throttles{}
	samples := [][]engines.Device{{gpu(1980, 60), other}, {gpu(1980, 61), calm}}
	assert.Equal(t, map[string]float64{
		"device_samples": 2, "device_clock_min_mhz": 1410, "device_clock_mean_mhz": 1410, "device_clock_max_mhz": 1980,
		"device_memory_clock_min_mhz": 3201, "device_temperature_max_celsius": 88, "device_power_mean_watts": 600,
		"device_throttled": 1, "device_throttle_heat": 1, "device_throttle_power-limit": 1, // of the one sample that tells
	}, summary(samples))
}

// A GPU that gets too hot half way through makes the run invalid.
func TestAThrottledRunIsInvalid(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := windowed(t, &sampler{sample: func(n int) ([]engines.Device, error) {
			if n >= 8 {
				return []engines.Device{gpu(1410, 88, engines.ThrottleHeat)}, nil
			}
			return []engines.Device{gpu(1980, 70)}, nil
		}})
		assert.Equal(t, []metric.Problem{{Kind: "throttled", Text: "the clocks of the engine's device were held down by heat in 27.3 % of 11 samples of the window (1410 … 1980 MHz, up to 88 °C), limit 1 %: it was not the machine that it is at other times; cool it, or set lower clocks for every arm (nvidia-smi -lgc)"}}, r.Problems)
		assert.Equal(t, []string{"the clock of the engine's device changed by -28.8 % from the first quarter of the window to the last (1410 … 1980 MHz, up to 88 °C): warm it up for longer (Point.Warmup), or set its clocks (nvidia-smi -lgc)"}, r.Warnings)
	})
}

func TestJudgeDevices(t *testing.T) {
	for _, c := range []struct {
		name     string
		counters map[string]float64
		problems []string
		warnings []string
	}{
		{"nothing is known", nil, nil, nil},
		{"all is well", map[string]float64{"device_samples": 300, "device_throttled": 0, "device_clock_drift": -0.02}, nil, nil},
		{"one sample of many", map[string]float64{"device_samples": 300, "device_throttled": 1. / 300, "device_throttle_hardware": 1. / 300}, nil,
			[]string{"the clocks of the engine's device were held down by the hardware, which does not say why in 0.333 % of 300 samples of the window"}},
		{"the power brake", map[string]float64{"device_samples": 10, "device_throttled": 0.1, "device_throttle_power-brake": 0.1, "device_temperature_max_celsius": 50},
			[]string{"throttled: the clocks of the engine's device were held down by the power supply's brake in 10 % of 10 samples of the window (up to 50 °C), limit 1 %: it was not the machine that it is at other times; cool it, or set lower clocks for every arm (nvidia-smi -lgc)"}, nil},
		{"the power limit is a setting", map[string]float64{"device_samples": 10, "device_throttled": 0, "device_throttle_power-limit": 0.4, "device_clock_min_mhz": 1700, "device_clock_max_mhz": 1980}, nil,
			[]string{"the clocks of the engine's device were held down by the power limit in 40 % of 10 samples of the window (1700 … 1980 MHz): compare only with runs under the same limits"}},
		{"clocks that were set", map[string]float64{"device_samples": 10, "device_throttled": 0, "device_throttle_clock-setting": 1}, nil, nil},
		{"it clocks up", map[string]float64{"device_samples": 10, "device_clock_drift": 0.031}, nil,
			[]string{"the clock of the engine's device changed by +3.1 % from the first quarter of the window to the last: warm it up for longer (Point.Warmup), or set its clocks (nvidia-smi -lgc)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			r.Counters = c.counters
			problems, warnings := Judge(r, Point{Arrivals: usual().Arrivals, Workload: prompts{1000, 10}, Requests: 100})
			var texts []string
			for _, p := range problems {
				texts = append(texts, p.Kind+": "+p.Text)
			}
			assert.Equal(t, c.problems, texts)
			assert.Equal(t, c.warnings, warnings)
		})
	}
}
