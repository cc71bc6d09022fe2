package benchtest

import (
	"iter"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// lead is the time from a load's origin to the zero of its schedule, so that
// no time of a request is zero.
const lead = 100 * time.Millisecond

// due is one planned arrival.
type due struct {
	index int
	at    time.Duration
	phase metric.Phase
}

// phases deals arrivals, in order of schedule, to settle, window and
// cooldown. The window opens with the first arrival after settle and closes
// at the next arrival after its last. Arrivals of one instant are never parted,
// because the window is an interval: From <= Scheduled < To.
type phases struct {
	settle   int
	requests int
	window   time.Duration

	dealt    int
	counted  int
	last     time.Duration
	phase    metric.Phase
	from, to time.Duration
}

// next deals the arrival at the given time.
func (p *phases) next(at time.Duration) metric.Phase {
	together := p.dealt > 0 && at == p.last
	p.last = at
	p.dealt++
	switch {
	case together:
	case p.phase == "" || p.phase == metric.Settle:
		p.phase = metric.Settle
		if p.dealt > p.settle {
			p.phase, p.from = metric.Window, at
		}
	case p.phase == metric.Window && p.full(at):
		p.phase, p.to = metric.Cooldown, at
	}
	if p.phase == metric.Window {
		p.counted++
	}
	return p.phase
}

func (p *phases) full(at time.Duration) bool {
	if p.window > 0 {
		return at-p.from >= p.window
	}
	return p.counted >= p.requests
}

// schedule is the plan of an open load. It depends on nothing that happens.
type schedule struct {
	process arrival.Process
	seed    uint64
	// warmup is the number of arrivals of a load that has no window; zero is
	// a load of settle, window and cooldown.
	warmup   int
	settle   int
	requests int
	window   time.Duration
}

// dues yields the arrivals. A warmup ends; a measured load goes on in
// cooldown for as long as its process does.
func (s schedule) dues() iter.Seq[due] {
	return func(yield func(due) bool) {
		p := phases{settle: s.settle, requests: s.requests, window: s.window}
		if s.warmup > 0 {
			p.settle = s.warmup
		}
		i := 0
		for t := range s.process.Times(s.seed) {
			if s.warmup > 0 && i >= s.warmup {
				return
			}
			at := lead + t
			phase := metric.Settle
			if s.warmup == 0 {
				phase = p.next(at)
			}
			if !yield(due{i, at, phase}) {
				return
			}
			i++
		}
	}
}
