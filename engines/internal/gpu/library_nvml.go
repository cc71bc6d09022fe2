//go:build linux && cgo && gpu

package gpu

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/openloop-go/openloop/engines"
)

// library is NVML, loaded once and kept; nil where it is not installed or has
// no driver to speak to.
var library = sync.OnceValue(func() Reader {
	if lib := load(nvml.New()); lib != nil {
		return lib
	}
	return nil
})

// nvmlReader reads through libnvidia-ml.
type nvmlReader struct {
	lib nvml.Interface
	// has says which functions the installed library has: calling one that it
	// has not ends the process.
	has map[string]bool
}

// The functions without which there is nothing to read, and those that are
// missing in some drivers. The binding looks for versioned ones itself.
var (
	needed   = []string{"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetUUID", "nvmlDeviceGetName"}
	optional = []string{
		"nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion", "nvmlDeviceGetEnforcedPowerLimit",
		"nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetMigMode", "nvmlDeviceGetIndex",
		"nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV", "nvmlDeviceGetPowerUsage",
		"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetMemoryInfo",
		"nvmlDeviceIsMigDeviceHandle", "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
	}
)

// load initialises the library; nil where that cannot be done. It is never
// shut down: between two starts of a server a driver that nobody holds unloads.
func load(lib nvml.Interface) *nvmlReader {
	if lib.Init() != nvml.SUCCESS {
		return nil
	}
	r := &nvmlReader{lib: lib, has: map[string]bool{}}
	for _, name := range append(needed, optional...) {
		r.has[name] = lib.Extensions().LookupSymbol(name) == nil
	}
	for _, name := range needed {
		if !r.has[name] {
			_ = lib.Shutdown()
			return nil
		}
	}
	return r
}

// ask calls a function of the library where it has it; ok is false where it
// has not, and where the device does not tell.
func ask[V any](r *nvmlReader, name string, call func() (V, nvml.Return)) (v V, ok bool) {
	if !r.has[name] {
		return v, false
	}
	got, ret := call()
	if ret != nvml.SUCCESS {
		return v, false
	}
	return got, true
}

func count(n uint32, ok bool) engines.Count {
	if !ok {
		return engines.Count{}
	}
	return engines.Known(int(n))
}

// failure is an error of the library as a sentence.
func failure(what string, ret nvml.Return) error {
	return fmt.Errorf("nvml: %s: %s", what, strings.ToLower(nvml.ErrorString(ret)))
}

func (r *nvmlReader) List(context.Context) ([]Device, error) {
	n, ret := r.lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, failure("count devices", ret)
	}
	driver, _ := ask(r, "nvmlSystemGetDriverVersion", r.lib.SystemGetDriverVersion)
	cuda := ""
	if v, ok := ask(r, "nvmlSystemGetCudaDriverVersion", r.lib.SystemGetCudaDriverVersion); ok {
		cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10) // as NVML_CUDA_DRIVER_VERSION_MAJOR and _MINOR do it
	}
	var devices []Device
	for i := range n {
		d, ret := r.lib.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			return nil, failure(fmt.Sprintf("open device %d", i), ret)
		}
		uuid, ret := d.GetUUID()
		if ret != nvml.SUCCESS {
			return nil, failure(fmt.Sprintf("name device %d", i), ret)
		}
		model, _ := ask(r, "nvmlDeviceGetName", d.GetName)
		limit := count(ask(r, "nvmlDeviceGetEnforcedPowerLimit", d.GetEnforcedPowerLimit))
		limit.N /= 1000 // it is in mW
		devices = append(devices, Device{
			Index: strconv.Itoa(i), UUID: uuid, Model: model, Driver: driver, CUDA: cuda, PowerLimitWatts: limit,
			MaxClockMHz: count(ask(r, "nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) { return d.GetMaxClockInfo(nvml.CLOCK_SM) })),
			Persistence: word(ask(r, "nvmlDeviceGetPersistenceMode", d.GetPersistenceMode)),
			MIG: word(ask(r, "nvmlDeviceGetMigMode", func() (nvml.EnableState, nvml.Return) {
				now, _, ret := d.GetMigMode()
				return nvml.EnableState(now), ret
			})),
		})
	}
	return devices, nil
}

func word(s nvml.EnableState, ok bool) string {
	switch {
	case !ok:
		return ""
	case s == nvml.FEATURE_ENABLED:
		return "on"
	}
	return "off"
}

func (r *nvmlReader) Read(_ context.Context, uuids []string) ([]Reading, error) {
	var readings []Reading
	for _, uuid := range uuids {
		d, ret := r.lib.DeviceGetHandleByUUID(uuid)
		if ret != nvml.SUCCESS {
			return nil, failure("open device "+uuid, ret)
		}
		reading := Reading{Device: engines.Device{ID: uuid}}
		if m, ok := ask(r, "nvmlDeviceGetMemoryInfo", d.GetMemoryInfo); ok {
			reading.Used, reading.Total = m.Used, m.Total
		}
		// A part of a GPU has memory of its own, and the GPU's clocks and heat.
		if part, ok := ask(r, "nvmlDeviceIsMigDeviceHandle", d.IsMigDeviceHandle); ok && part {
			if whole, ok := ask(r, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", d.GetDeviceHandleFromMigDeviceHandle); ok {
				d = whole
			}
		}
		r.state(d, &reading.Device)
		readings = append(readings, reading)
	}
	return readings, nil
}

// state reads what changes from moment to moment.
func (r *nvmlReader) state(d nvml.Device, to *engines.Device) {
	clock := func(of nvml.ClockType) engines.Count {
		return count(ask(r, "nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) { return d.GetClockInfo(of) }))
	}
	to.ClockMHz, to.MemoryClockMHz = clock(nvml.CLOCK_SM), clock(nvml.CLOCK_MEM)
	to.Celsius = count(ask(r, "nvmlDeviceGetTemperature", func() (uint32, nvml.Return) { return d.GetTemperature(nvml.TEMPERATURE_GPU) }))
	if !to.Celsius.Known {
		if t, ok := ask(r, "nvmlDeviceGetTemperatureV", func() (nvml.Temperature, nvml.Return) { return d.GetTemperatureV().V1() }); ok {
			to.Celsius = engines.Known(int(t.Temperature))
		}
	}
	to.Watts = count(ask(r, "nvmlDeviceGetPowerUsage", d.GetPowerUsage))
	to.Watts.N = (to.Watts.N + 500) / 1000 // it is in mW
	mask, ok := ask(r, "nvmlDeviceGetCurrentClocksEventReasons", d.GetCurrentClocksEventReasons)
	if !ok { // the name before driver 535
		mask, ok = ask(r, "nvmlDeviceGetCurrentClocksThrottleReasons", d.GetCurrentClocksThrottleReasons)
	}
	if ok {
		to.Throttles = throttles(mask)
	}
}
