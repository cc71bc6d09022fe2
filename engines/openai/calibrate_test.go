package openai_test

import (
	"context"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// A calibration ends and finds costs that a client can have: more than a system
// call, and less than five milliseconds a request and one an event. CPU time is
// what it counts, but what else a busy host does to it (an event's cost is a
// difference, at least 0) can spoil one calibration: of five, one is true.
func TestCalibrate(t *testing.T) {
	e, err := openai.New(openai.Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	possible := false
	for try := 0; try < 5 && !possible; try++ {
		cost, err := e.Calibrate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v a request, %v an event", cost.Request, cost.Event)
		if cost.Request <= 0 || cost.Event < 0 {
			t.Error("a request costs something, and an event not less than nothing")
		}
		possible = cost.Request >= time.Microsecond && cost.Request <= 5*time.Millisecond &&
			cost.Event >= 200*time.Nanosecond && cost.Event <= time.Millisecond
	}
	if !possible {
		t.Error("no calibration found costs that a client can have")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Calibrate(ctx); err == nil {
		t.Error("a context that has ended was not noticed")
	}
	var _ engines.Calibrator = e
}
