package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Noise is how the engine's speed varies, as standard deviations of the
// logarithm of a step's time. A zero field is its default, a negative one is
// off.
type Noise struct {
	// Start is what one start of the engine differs from another. Default
	// 0.005.
	Start float64
	// Run wanders: an Ornstein–Uhlenbeck process in engine time, drawn anew
	// at a start and at every flush, so that it is also what one run differs
	// from another. Default 0.01.
	Run float64
	// Step is drawn anew for each step. Default off.
	Step float64
	// Correlation is the time in which Run's correlation falls to 1/e: the
	// shorter a run, the less of the noise it averages out. Default a minute.
	Correlation time.Duration
}

// Quiet is an engine without noise.
var Quiet = Noise{Start: -1, Run: -1, Step: -1}

func (n Noise) resolve() (Noise, error) {
	var errs []error
	for _, f := range []struct {
		name string
		v    *float64
		zero float64
	}{{"Start", &n.Start, 0.005}, {"Run", &n.Run, 0.01}, {"Step", &n.Step, 0}} {
		switch {
		case *f.v == 0:
			*f.v = f.zero
		case *f.v < 0:
			*f.v = 0
		case !(*f.v < 1):
			errs = append(errs, fmt.Errorf("Noise.%s must be below 1 (0.01 is 1 %%), got %v", f.name, *f.v))
		}
	}
	if n.Correlation == 0 {
		n.Correlation = time.Minute
	}
	if n.Correlation < 0 {
		errs = append(errs, fmt.Errorf("Noise.Correlation must be positive, got %v", n.Correlation))
	}
	return n, errors.Join(errs...)
}

// weather is the noise of one start of the engine.
type weather struct {
	noise Noise
	seed  uint64
	start uint64 // the start's index
	run   uint64 // flushes since the start

	rng    rand.PCG
	normal *rand.Rand
	fixed  float64 // the start's share of the logarithm
	x      float64 // the run's share now
	factor float64 // what both make
	began  bool
	origin time.Duration // of the run: its first step
	cell   time.Duration // width of a cell, in which x stays the same
	next   time.Duration // end of the present cell, since origin
}

// cellsPerCorrelation is how finely the wandering is cut: within a cell of
// 1/240 of the correlation time, 250 ms by default, it moves by a tenth of
// its deviation.
const cellsPerCorrelation = 240

func newWeather(n Noise, seed, start uint64) *weather {
	w := &weather{noise: n, seed: seed, start: start}
	w.normal = rand.New(&w.rng)
	w.cell = max(1, n.Correlation/cellsPerCorrelation)
	w.rng.Seed(mix(seed, start), 1)
	w.fixed = n.Start * w.normal.NormFloat64()
	w.redraw()
	return w
}

// redraw begins another run.
func (w *weather) redraw() {
	w.rng.Seed(mix(w.seed, w.start), 2+w.run)
	w.run++
	w.x = w.noise.Run * w.normal.NormFloat64()
	w.factor = math.Exp(w.fixed + w.x)
	w.began = false
}

// since is the time since the run's first step, which the first call sets.
func (w *weather) since(start time.Duration) time.Duration {
	if !w.began {
		w.began, w.origin, w.next = true, start, w.cell
	}
	return start - w.origin
}

// at is what a step that starts now takes longer, as a factor.
func (w *weather) at(start time.Duration) float64 {
	if t := w.since(start); t >= w.next && w.noise.Run > 0 {
		cells := (t-w.next)/w.cell + 1
		keep := math.Exp(-float64(cells) * float64(w.cell) / float64(w.noise.Correlation))
		w.x = w.x*keep + w.noise.Run*math.Sqrt(1-keep*keep)*w.normal.NormFloat64()
		w.next += cells * w.cell
		w.factor = math.Exp(w.fixed + w.x)
	}
	if w.noise.Step > 0 {
		return w.factor * math.Exp(w.noise.Step*w.normal.NormFloat64())
	}
	return w.factor
}
