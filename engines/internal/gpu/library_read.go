//go:build linux && cgo

package gpu

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/openloop-go/openloop/engines"
)

// Numbers of NVML's enumerations.
const (
	clockSM       = 1 // NVML_CLOCK_SM
	clockMemory   = 2 // NVML_CLOCK_MEM
	sensorGPU     = 0 // NVML_TEMPERATURE_GPU
	enabled       = 1 // NVML_FEATURE_ENABLED
	milliPerUnit  = 1000
	halfMilliUnit = 500
)

func count(n uint32, ok bool) engines.Count {
	if !ok {
		return engines.Count{}
	}
	return engines.Known(int(n))
}

// watts is a power that NVML gives in mW.
func watts(n uint32, ok bool) engines.Count {
	return count((n+halfMilliUnit)/milliPerUnit, ok)
}

func word(n uint32, ok bool) string {
	switch {
	case !ok:
		return ""
	case n == enabled:
		return "on"
	}
	return "off"
}

func (r *nvml) List(context.Context) ([]Device, error) {
	n, ok := r.total("nvmlDeviceGetCount_v2")
	if !ok {
		return nil, errors.New("nvml: the devices cannot be counted")
	}
	driver, cuda := r.system("nvmlSystemGetDriverVersion"), ""
	if v, ok := r.total("nvmlSystemGetCudaDriverVersion"); ok {
		cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10) // 12040 is 12.4
	}
	var devices []Device
	for i := range int(n) {
		d, err := r.byIndex(i)
		if err != nil {
			return nil, err
		}
		uuid := r.text(d, "nvmlDeviceGetUUID")
		if uuid == "" {
			return nil, fmt.Errorf("nvml: device %d does not tell its UUID", i)
		}
		devices = append(devices, Device{
			Index: strconv.Itoa(i), UUID: uuid, Model: r.text(d, "nvmlDeviceGetName"), Driver: driver, CUDA: cuda,
			PowerLimitWatts: watts(r.number(d, "nvmlDeviceGetEnforcedPowerLimit")),
			MaxClockMHz:     count(r.numberOf(d, "nvmlDeviceGetMaxClockInfo", clockSM)),
			Persistence:     word(r.number(d, "nvmlDeviceGetPersistenceMode")),
			MIG:             word(r.current(d, "nvmlDeviceGetMigMode")),
		})
	}
	return devices, nil
}

func (r *nvml) Read(_ context.Context, uuids []string) ([]Reading, error) {
	var readings []Reading
	for _, uuid := range uuids {
		d, err := r.byUUID(uuid)
		if err != nil {
			return nil, err
		}
		// A part of a GPU has memory of its own, and the GPU's clocks and heat.
		used, total := r.memory(d)
		readings = append(readings, Reading{Device: r.state(r.whole(d), uuid), Used: used, Total: total})
	}
	return readings, nil
}

// state is what changes from moment to moment.
func (r *nvml) state(d handle, id string) engines.Device {
	to := engines.Device{
		ID:             id,
		ClockMHz:       count(r.numberOf(d, "nvmlDeviceGetClockInfo", clockSM)),
		MemoryClockMHz: count(r.numberOf(d, "nvmlDeviceGetClockInfo", clockMemory)),
		Celsius:        count(r.numberOf(d, "nvmlDeviceGetTemperature", sensorGPU)),
		Watts:          watts(r.number(d, "nvmlDeviceGetPowerUsage")),
	}
	mask, ok := r.mask(d, "nvmlDeviceGetCurrentClocksEventReasons")
	if !ok { // the name before driver 535
		mask, ok = r.mask(d, "nvmlDeviceGetCurrentClocksThrottleReasons")
	}
	if ok {
		to.Throttles = throttles(mask)
	}
	return to
}
