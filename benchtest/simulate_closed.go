package benchtest

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// closedLoop sends into slots as they become free, those of one instant
// together and a nanosecond later, as a pass does in virtual time.
func (s *simulation) closedLoop(yield func(engines.Arrival) bool) {
	deal := phases{settle: s.settle, requests: s.requests, window: s.window}
	free := make([]slot, s.inFlight)
	for i := range free {
		free[i] = slot{lead, i}
	}
	for sent, wait := 0, time.Duration(0); len(free) > 0; wait = 1 {
		for _, slot := range free {
			if s.warmup > 0 && sent >= s.warmup {
				return
			}
			phase := metric.Settle
			if s.warmup == 0 {
				phase = deal.next(slot.at)
			}
			if phase == metric.Cooldown && !s.closed {
				s.closed, s.to = true, slot.at
				s.edges[1] = s.onEdge()
			}
			if s.closed && s.counted == 0 {
				return
			}
			if no, err := s.bound.refuses(phase, slot.at-s.from); no {
				s.err = err
				return
			}
			if phase == metric.Window && !s.opened {
				s.opened, s.from = true, slot.at
				s.edges[0] = s.onEdge()
			}
			if !s.send(yield, due{sent, slot.at, phase}, slot.at+wait) {
				return
			}
			sent++
		}
		free = s.nextFree(yield)
	}
}

// nextFree lets the engine go on until requests end, and past the instant at
// which they do.
func (s *simulation) nextFree(yield func(engines.Arrival) bool) []slot {
	for len(s.free) == 0 {
		before := s.ends
		if !yield(engines.Arrival{}) {
			return nil
		}
		if s.ends == before {
			s.err = s.pulledOn()
			return nil
		}
	}
	at := earliest(s.free)
	if s.closed && at > s.cutAt() || !s.come(yield, at+1) {
		return nil
	}
	var free []slot
	free, s.free = instant(s.free)
	sortSlots(free)
	return free
}

func (s *simulation) pulledOn() error {
	return fmt.Errorf("benchtest: Simulate pulled on although %d requests were in flight and none had ended", len(s.flying))
}
