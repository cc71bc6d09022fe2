package nevercached

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

func TestMeasures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		benchtest.Measure(t, engine{}, benchtest.Point{
			Workload: engine{}, Arrivals: arrival.Constant{Rate: 10}, Requests: 5, Runs: 1,
		})
	})
}

func TestMeasuresNothing(*testing.T) {}

type engine struct{}

func (engine) VirtualTime() bool { return true }

func (engine) Request(int, uint64, uint64) engines.Request {
	return engines.Request{Text: "a", MaxTokens: 1}
}

func (engine) Generate(_ context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	sent := r.Now()
	time.Sleep(time.Millisecond)
	emit(engines.Chunk{At: r.Now(), Token: true})
	return engines.Reply{Sent: sent, Closed: r.Now()}, nil
}
