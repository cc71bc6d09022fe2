package engines_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// Thermometer is an engine whose device is read by a program of its own.
type Thermometer struct{ engines.Engine }

func (Thermometer) Sample(context.Context) ([]engines.Device, error) {
	return []engines.Device{{
		ID:       "accelerator 0",
		ClockMHz: engines.Known(1410),
		Celsius:  engines.Known(88),
		Throttles: engines.Throttles{
			Known: true, Reasons: []engines.Throttle{engines.ThrottleHeat},
		},
	}}, nil
}

func ExampleSampler() {
	var engine engines.Engine = Thermometer{}
	sampler, ok := engine.(engines.Sampler)
	if !ok {
		return
	}
	devices, err := sampler.Sample(context.Background())
	if err != nil {
		fmt.Println(err)
	}
	for _, d := range devices {
		fmt.Println(d.ID, d.ClockMHz.N, "MHz", d.Celsius.N, "°C", d.Throttles.Reasons, d.Watts.Known)
	}
	// Output:
	// accelerator 0 1410 MHz 88 °C [heat] false
}
