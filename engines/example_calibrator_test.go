package engines_test

import (
	"context"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// Lean is an engine with a client whose cost is known.
type Lean struct{ engines.Engine }

func (Lean) Calibrate(context.Context) (engines.Cost, error) {
	return engines.Cost{Request: 80 * time.Microsecond, Event: 9 * time.Microsecond}, nil
}

func ExampleCalibrator() {
	var engine engines.Engine = Lean{}
	cost, err := engine.(engines.Calibrator).Calibrate(context.Background())
	fmt.Println(cost.Request, cost.Event, err)
	// Output: 80µs 9µs <nil>
}

// A thousand requests a second of 256 tokens each need more than two CPUs of
// the client.
func ExampleCost_CPUs() {
	cost := engines.Cost{Request: 80 * time.Microsecond, Event: 9 * time.Microsecond}
	fmt.Printf("%.2f\n", cost.CPUs(1000, 1000*256))
	// Output: 2.38
}
