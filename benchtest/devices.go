package benchtest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// sampleEvery is the pause between two samples of the engine's devices, and
// sampleShare the share of the time that sampling may take: who answers slowly
// is asked less often.
const (
	sampleEvery = time.Second
	sampleShare = 0.01
)

// deviceWatch samples the engine's devices from the first edge of the window
// to the second. Nil watches nothing.
type deviceWatch struct {
	sampler engines.Sampler

	mu      sync.Mutex
	stop    context.CancelFunc
	done    chan struct{}
	samples [][]engines.Device
	err     error
}

// watchDevices is nil for an engine whose devices nobody can read, and for one
// that computes: it is done before there is anything to watch.
func (s *session) watchDevices() *deviceWatch {
	sampler, ok := s.engine.(engines.Sampler)
	if !ok || s.simulator != nil {
		return nil
	}
	return &deviceWatch{sampler: sampler}
}

// edge begins to sample the first time, and the second time ends it and says
// what was seen.
func (w *deviceWatch) edge(ctx context.Context) (seen map[string]float64, err error) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	if w.stop == nil {
		ctx, w.stop = context.WithCancel(ctx)
		w.done = make(chan struct{})
		w.mu.Unlock()
		go w.run(ctx)
		return nil, nil
	}
	w.mu.Unlock()
	w.end()
	if len(w.samples) == 0 {
		return nil, w.err
	}
	return summary(w.samples), nil
}

// end stops sampling and waits until it has stopped.
func (w *deviceWatch) end() {
	if w == nil {
		return
	}
	w.mu.Lock()
	stop := w.stop
	w.mu.Unlock()
	if stop != nil {
		stop()
		<-w.done
	}
}

func (w *deviceWatch) run(ctx context.Context) {
	defer close(w.done)
	defer func() {
		if v := recover(); v != nil {
			w.err = fmt.Errorf("panic in Sample: %v", v)
		}
	}()
	for {
		asked := time.Now()
		limit, cancel := context.WithTimeout(ctx, edgeLimit)
		devices, err := w.sampler.Sample(limit)
		cancel()
		switch {
		case err == nil && len(devices) > 0:
			w.samples = append(w.samples, devices)
		case err != nil && w.err == nil && ctx.Err() == nil:
			w.err = err
		}
		took := time.Since(asked)
		if !sleep(ctx, max(sampleEvery, time.Duration(float64(took)/sampleShare))-took) {
			return
		}
	}
}

// The keys of a record's counters that tell of devices. Of several devices
// each is that of the worst.
const (
	deviceSamples   = "device_samples"
	deviceClockMin  = "device_clock_min_mhz"
	deviceClockMean = "device_clock_mean_mhz"
	deviceClockMax  = "device_clock_max_mhz"
	// deviceClockDrift is the mean clock of the window's last quarter ÷ that of
	// its first − 1.
	deviceClockDrift  = "device_clock_drift"
	deviceMemoryClock = "device_memory_clock_min_mhz"
	deviceCelsius     = "device_temperature_max_celsius"
	deviceWatts       = "device_power_mean_watts"
	// deviceThrottle, with a reason, is the share of the samples in which
	// clocks were held down for it; those that never were are left out.
	// deviceThrottled is the share for any of the reasons in faults.
	deviceThrottle  = "device_throttle_"
	deviceThrottled = "device_throttled"
)

// faults are the reasons for which a machine is not what it is at other times.
var faults = []engines.Throttle{engines.ThrottleHeat, engines.ThrottlePowerBrake, engines.ThrottleHardware}

// summary is what samples, in order of time, come to.
func summary(samples [][]engines.Device) map[string]float64 {
	byID := map[string][]engines.Device{}
	for _, devices := range samples {
		for _, d := range devices {
			byID[d.ID] = append(byID[d.ID], d)
		}
	}
	out := map[string]float64{deviceSamples: float64(len(samples))}
	worst := func(key string, value float64, worse func(a, b float64) bool) {
		if math.IsNaN(value) {
			return
		}
		if old, ok := out[key]; !ok || worse(value, old) {
			out[key] = value
		}
	}
	lower := func(a, b float64) bool { return a < b }
	higher := func(a, b float64) bool { return a > b }
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		d := byID[id]
		clocks := numbers(d, func(d engines.Device) engines.Count { return d.ClockMHz })
		if len(clocks) > 0 {
			worst(deviceClockMin, slices.Min(clocks), lower)
			worst(deviceClockMax, slices.Max(clocks), higher)
			worst(deviceClockMean, mean(clocks), lower)
			worst(deviceClockDrift, drift(clocks), func(a, b float64) bool { return math.Abs(a) > math.Abs(b) })
		}
		if memory := numbers(d, func(d engines.Device) engines.Count { return d.MemoryClockMHz }); len(memory) > 0 {
			worst(deviceMemoryClock, slices.Min(memory), lower)
		}
		if heat := numbers(d, func(d engines.Device) engines.Count { return d.Celsius }); len(heat) > 0 {
			worst(deviceCelsius, slices.Max(heat), higher)
		}
		if power := numbers(d, func(d engines.Device) engines.Count { return d.Watts }); len(power) > 0 {
			worst(deviceWatts, mean(power), higher)
		}
		for key, share := range throttled(d) {
			worst(key, share, higher)
		}
	}
	return out
}

func numbers(devices []engines.Device, of func(engines.Device) engines.Count) (known []float64) {
	for _, d := range devices {
		if n := of(d); n.Known {
			known = append(known, float64(n.N))
		}
	}
	return known
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// drift is the relative change from the first quarter to the last; NaN of
// fewer than eight values, and of a clock that began at none.
func drift(values []float64) float64 {
	quarter := len(values) / 4
	if quarter < 2 || mean(values[:quarter]) == 0 {
		return math.NaN()
	}
	return mean(values[len(values)-quarter:])/mean(values[:quarter]) - 1
}

// throttled are the shares of one device's samples.
func throttled(samples []engines.Device) map[string]float64 {
	shares := map[string]float64{}
	known, faulty := 0, 0
	for _, d := range samples {
		if !d.Throttles.Known {
			continue
		}
		known++
		for _, why := range d.Throttles.Reasons {
			shares[deviceThrottle+string(why)]++
		}
		if slices.ContainsFunc(d.Throttles.Reasons, func(t engines.Throttle) bool { return slices.Contains(faults, t) }) {
			faulty++
		}
	}
	if known == 0 {
		return nil
	}
	for key := range shares {
		shares[key] /= float64(known)
	}
	shares[deviceThrottled] = float64(faulty) / float64(known)
	return shares
}

// recordDevices writes what the devices did in the window into the record.
func recordDevices(r *metric.Record, e edge) {
	if e.deviceErr != nil {
		r.Warnings = append(r.Warnings, "the engine's devices could not be read: "+firstLine(e.deviceErr.Error()))
	}
	for key, value := range e.devices {
		r.Counters[key] = value
	}
	_, clock := e.devices[deviceClockMean]
	_, heat := e.devices[deviceCelsius]
	if clock && heat {
		r.Unrecorded = slices.DeleteFunc(r.Unrecorded, func(field string) bool { return field == fieldClocks })
	}
}
