package benchtest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// Plan is what a measurement at a point would do, computed without an engine.
// Its String is the dry run.
type Plan struct {
	// Point is the point with its defaults written out, Hash its hash.
	Point Point
	Hash  string
	// Runs are the runs in order.
	Runs []PlannedRun
}

// PlannedRun is one run of a plan. The lengths of a closed loop's phases
// depend on the engine and are zero.
type PlannedRun struct {
	// Index is the run's number, from 0, Start the number of its engine start
	// and Seed its pair seed.
	Index, Start int
	Seed         uint64
	// Warmup, Settle and Window are how long the arrivals of each last.
	Warmup, Settle, Window time.Duration
	// Arrivals is the number of arrivals in the window; for a closed loop
	// with a Window it is zero.
	Arrivals int
}

// Plan computes what Measure would do at this point. It checks the schedule
// of every run: that there are enough arrivals, and that their mean and
// dispersion are what the process asks for.
func (p Point) Plan() (Plan, error) {
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	plan := newPlan(p)
	for i := range plan.Point.Runs {
		run, err := plan.run(i)
		if err != nil {
			return Plan{}, err
		}
		plan.Runs = append(plan.Runs, run)
	}
	return plan, nil
}

// newPlan is the plan of a valid point before its runs are computed.
func newPlan(p Point) Plan { return Plan{Point: p.orDefaults(), Hash: p.Hash()} }

// run computes run i, which may be beyond those planned so far.
func (p Plan) run(i int) (PlannedRun, error) {
	run := PlannedRun{Index: i, Start: i / p.perStart(), Seed: pairSeed(p.Hash, p.Point.Seed, i)}
	if p.Point.Arrivals == nil {
		run.Arrivals = p.Point.Requests
		return run, nil
	}
	if p.Point.Warmup > 0 {
		times, err := p.schedule(warmupSeeds(run.Seed, 0), true).check()
		if err != nil {
			return run, fmt.Errorf("benchtest: the warmup of run %d: %w", i, err)
		}
		run.Warmup = times.to - lead
	}
	times, err := p.schedule(measuredSeeds(run.Seed, 0), false).check()
	if err != nil {
		return run, fmt.Errorf("benchtest: run %d: %w", i, err)
	}
	run.Settle, run.Window, run.Arrivals = times.from-lead, times.to-times.from, times.counted
	return run, nil
}

// perStart is how many runs are made on one start of the engine. On a single
// start there is no limit, however many more runs are asked for.
func (p Plan) perStart() int {
	if p.Point.Starts == 1 {
		return math.MaxInt
	}
	return (p.Point.Runs + p.Point.Starts - 1) / p.Point.Starts
}

func (p Plan) schedule(s seeds, warmup bool) schedule {
	out := schedule{
		process: p.Point.Arrivals, seed: s.arrivals,
		settle: p.Point.Settle, requests: p.Point.Requests, window: p.Point.Window,
	}
	if warmup {
		out.warmup = p.Point.Warmup
	}
	return out
}

// bounds are where a schedule's window lies and how many arrivals it counts.
type bounds struct {
	from, to time.Duration
	counted  int
}

// check walks the schedule to the end of its window, or of its warmup, and
// tests it against its process.
func (s schedule) check() (b bounds, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the arrival process panicked: %v", v)
		}
	}()
	var times, window []time.Duration
	closed := false
	for d := range s.dues() {
		if n := len(times); n > 0 && d.at-lead < times[n-1] {
			return b, fmt.Errorf("arrival %d of %s is due at %v, before the one before it: a schedule never decreases", d.index, arrival.String(s.process), d.at-lead)
		}
		times = append(times, d.at-lead)
		if err := s.fits(len(times), d.at-lead); err != nil {
			return b, err
		}
		b.to = d.at
		if d.phase != metric.Settle {
			window = append(window, d.at)
		}
		if d.phase == metric.Cooldown {
			closed = true
			break
		}
	}
	if s.warmup == 0 {
		if !closed {
			return b, fmt.Errorf("%s has only %d arrivals, and the window (%s after %d to settle) needs one more to close at: lower Requests, Window or Settle", arrival.String(s.process), len(times), s.size(), s.settle)
		}
		b.from, b.counted = window[0], len(window)-1
	} else if len(times) < s.warmup {
		return b, fmt.Errorf("%s has only %d arrivals of %d: lower Warmup", arrival.String(s.process), len(times), s.warmup)
	}
	return b, arrival.SelfTest(times, s.process)
}

func (s schedule) size() string {
	if s.window > 0 {
		return s.window.String()
	}
	return fmt.Sprintf("%d requests", s.requests)
}

var errNoLength = errors.New("the length of a closed loop depends on the engine")

// length is the worst case of a run that goes as planned: its arrivals and
// one whole drain. The waits that a healthy engine does not need (for
// readiness, an idle queue, a refused flush) are bounded by themselves and
// are not in it.
func (p Plan) length(r PlannedRun) (time.Duration, error) {
	if p.Point.Arrivals == nil {
		return 0, errNoLength
	}
	return r.Warmup + r.Settle + r.Window + p.Point.Drain, nil
}

// Duration is the worst case of all runs, a whole drain each included; false
// for a closed loop, whose length depends on the engine.
func (p Plan) Duration() (time.Duration, bool) {
	var sum time.Duration
	for _, r := range p.Runs {
		d, err := p.length(r)
		if err != nil {
			return 0, false
		}
		sum += d
	}
	return sum, true
}

// String is the dry run: what is measured, each run's phases, and the engine
// time at most.
func (p Plan) String() string {
	var b strings.Builder
	point := p.Point
	fmt.Fprintf(&b, "%s: %s\n", point.Name, point)
	fmt.Fprintf(&b, "point %s, cache %s, %s on %s\n", p.Hash, point.Cache, many(len(p.Runs), "run"), many(point.Starts, "engine start"))
	for _, r := range p.Runs {
		fmt.Fprintf(&b, "run %d  start %d  seed %016x  ", r.Index, r.Start, r.Seed)
		if point.Arrivals == nil {
			fmt.Fprintf(&b, "warmup %d, settle %d, window %s, drain at most %v\n", point.Warmup, point.Settle, p.schedule(seeds{}, false).size(), point.Drain)
			continue
		}
		fmt.Fprintf(&b, "warmup %d in %v, settle %d in %v, window %d in %v, drain at most %v\n",
			point.Warmup, brief(r.Warmup), point.Settle, brief(r.Settle), r.Arrivals, brief(r.Window), point.Drain)
	}
	if d, ok := p.Duration(); ok {
		fmt.Fprintf(&b, "at most %v of engine time, and what starting it takes\n", brief(d))
	} else {
		b.WriteString("engine time depends on the engine: it is a closed loop\n")
	}
	return b.String()
}

// brief rounds a time for people.
func brief(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(100 * time.Microsecond)
}

// many is a number of things.
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
