package sim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines/sim"
)

// BenchmarkRun is one run of 2,400 requests of 2,048 tokens in and 256 out, the
// test's own arithmetic included.
func BenchmarkRun(b *testing.B) {
	var simulated time.Duration
	for b.Loop() {
		model, err := sim.NewModel(sim.Config{})
		if err != nil {
			b.Fatal(err)
		}
		run := chat.at(12.5, 1).run(model)
		simulated += run[len(run)-1].last
	}
	b.ReportMetric(simulated.Seconds()/b.Elapsed().Seconds(), "simulated-s/s")
}

// TestCostOfAnEvent is the time that an event takes over HTTP in virtual
// time, client included; it is told, not judged, because it is the host's.
func TestCostOfAnEvent(t *testing.T) {
	const n = 500
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		m := sim.New(t, sim.Config{})
		if got := look(overHTTP(m, chat.at(12.5, 5), n)); got.tokens != n*256 {
			t.Errorf("%d events, want %d", got.tokens, n*256)
		}
	})
	t.Logf("%v an event", time.Since(began)/(n*256))
}
