package openai_test

import (
	"context"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// A calibration ends, leaves nothing behind (TestMain looks), and finds costs
// that a client can have: more than a system call, less than a millisecond of
// this host, however busy it is, since CPU time is what it counts.
func TestCalibrate(t *testing.T) {
	e, err := openai.New(openai.Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	cost, err := e.Calibrate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v a request, %v an event", cost.Request, cost.Event)
	if cost.Request < time.Microsecond || cost.Request > 5*time.Millisecond || cost.Event < 200*time.Nanosecond || cost.Event > time.Millisecond {
		t.Errorf("%v a request, %v an event", cost.Request, cost.Event)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Calibrate(ctx); err == nil {
		t.Error("a context that has ended was not noticed")
	}
	var _ engines.Calibrator = e
}
