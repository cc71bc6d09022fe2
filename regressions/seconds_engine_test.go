package regressions_test

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// wandering is an engine whose noise does not begin anew at a flush, as that
// of sim does: it goes on from run to run, an Ornstein–Uhlenbeck process in
// engine time, so that runs of a few seconds in a row see the same and gain
// nothing by being many. Within a run it stays.
type wandering struct {
	*sim.Model
	cfg sim.Config
	// deviation is that of the logarithm of the engine's speed, correlation
	// the time over which it is remembered.
	deviation   float64
	correlation time.Duration

	normal  *rand.Rand
	x       float64
	elapsed time.Duration // since x was drawn
	starts  int
}

// newWandering takes the noise of the configuration's runs and carries it on.
func newWandering(cfg sim.Config) (*wandering, error) {
	w := &wandering{
		cfg: cfg, deviation: cfg.Noise.Run, correlation: time.Minute,
		normal: rand.New(rand.NewPCG(cfg.Seed, 7)),
	}
	w.cfg.Noise.Run = -1
	w.x = w.deviation * w.normal.NormFloat64()
	return w, w.renew()
}

// renew is the engine at the speed that it has now, with an empty cache.
func (w *wandering) renew() error {
	keep := math.Exp(-w.elapsed.Seconds() / w.correlation.Seconds())
	w.x = w.x*keep + w.deviation*math.Sqrt(1-keep*keep)*w.normal.NormFloat64()
	w.elapsed = 0
	cfg := w.cfg
	cfg.DecodeSlowdown = math.Exp(w.x) * max(cfg.DecodeSlowdown, 1)
	cfg.PrefillSlowdown = math.Exp(w.x)
	model, err := sim.NewModel(cfg)
	if err != nil {
		return err
	}
	w.Model = model
	for range w.starts {
		if err := model.Restart(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// Simulate also measures how long the load took.
func (w *wandering) Simulate(arrivals iter.Seq[engines.Arrival], done func(engines.Outcome)) {
	var end time.Duration
	w.Model.Simulate(arrivals, func(o engines.Outcome) {
		end = max(end, o.Reply.Closed)
		done(o)
	})
	w.elapsed += end
}

// Flush begins a run.
func (w *wandering) Flush(ctx context.Context) (engines.Flush, error) {
	if err := w.renew(); err != nil {
		return engines.Flush{}, err
	}
	return w.Model.Flush(ctx)
}

// Scrape tells nothing: each model counts from zero, and a counter that falls
// is a restart.
func (w *wandering) Scrape(context.Context) (engines.Counters, error) {
	return engines.Counters{}, nil
}

// Restart begins a start, whose own effect is drawn anew.
func (w *wandering) Restart(ctx context.Context) error {
	w.starts++
	return w.renew()
}
