package benchtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// slot is a slot of a closed loop that has become free, and whose request it
// held.
type slot struct {
	at    time.Duration
	index int
}

// stalled bounds the wait for a slot of a closed loop to become free, and for a
// request to be made: longer than any generation takes, and short enough to leave a
// job time to say so.
const stalled = 10 * time.Minute

// dispatchClosed keeps a fixed number of requests in flight. A request is
// scheduled when its slot becomes free.
func (p *pass) dispatchClosed(ctx context.Context) {
	ctx, stop := p.stoppable(ctx)
	defer stop()
	flights := p.builder(ctx, indices)
	p.until(ctx, lead, nil)
	deal := phases{settle: p.settle, requests: p.requests, window: p.window}
	free := make([]slot, p.inFlight)
	for i := range free {
		free[i] = slot{lead, i}
	}
	for sent := 0; free != nil; free = p.nextFree(ctx) {
		for _, s := range free {
			if p.warmup > 0 && sent >= p.warmup {
				return
			}
			phase := metric.Settle
			if p.warmup == 0 {
				phase = deal.next(s.at)
			}
			if phase == metric.Cooldown && !p.closed {
				p.closeWindow(s.at)
				p.readEdge(1)
			}
			if _, ended := p.windowEnded(); ended {
				return
			}
			if p.refuses(phase, s.at) {
				return
			}
			f := p.next(ctx, flights)
			if f == nil {
				return
			}
			f.due(s.at, phase)
			if phase == metric.Window && p.from == 0 && !p.openWindow(s.at) {
				return
			}
			p.launch(f)
			sent++
		}
	}
}

// refuses reports whether a request of that phase, due at the given time, is
// one too many.
func (p *pass) refuses(phase metric.Phase, at time.Duration) bool {
	p.mu.Lock()
	no, err := p.bound.refuses(phase, at-p.from)
	p.mu.Unlock()
	if err != nil {
		p.crashWith(err)
	}
	return no
}

// indices yields 0, 1, 2, … for requests whose times are not known yet.
func indices(yield func(due) bool) {
	for i := 0; yield(due{index: i}); i++ {
	}
}

// nextFree waits for slots to become free; nil when there is a reason to
// stop. In virtual time, where many become free at one instant, those of one
// instant are taken together, a nanosecond later, in order of their requests:
// so the same seeds give the same order, whichever goroutine came first.
func (p *pass) nextFree(ctx context.Context) []slot {
	if len(p.spare) == 0 && !p.awaitSlot(ctx) {
		return nil
	}
	if p.virtual {
		time.Sleep(earliest(p.spare) + 1 - p.now())
	}
	for more := true; more; {
		select {
		case s := <-p.freed:
			p.spare = append(p.spare, s)
		default:
			more = false
		}
	}
	free := p.spare
	p.spare = nil
	if p.virtual {
		free, p.spare = instant(free)
	}
	sortSlots(free)
	return free
}

// awaitSlot waits for one slot to become free; false is a reason to stop.
func (p *pass) awaitSlot(ctx context.Context) bool {
	limit := stalled
	if p.closed {
		limit = p.cutAt() - p.now()
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case s := <-p.freed:
		p.spare = append(p.spare, s)
		return true
	case <-timer.C:
		if !p.closed {
			p.crashWith(errStalled)
		}
	case <-ctx.Done():
	}
	return false
}

// earliest is when the first of the slots became free.
func earliest(slots []slot) time.Duration {
	first := slots[0].at
	for _, s := range slots {
		first = min(first, s.at)
	}
	return first
}

// instant parts the slots that became free first from those that did later.
func instant(slots []slot) (first, later []slot) {
	at := earliest(slots)
	for _, s := range slots {
		if s.at == at {
			first = append(first, s)
		} else {
			later = append(later, s)
		}
	}
	return first, later
}

func sortSlots(free []slot) {
	slices.SortFunc(free, func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index))
	})
}

var errStalled = fmt.Errorf("benchtest: the closed loop stalled: no request ended for %v: see in the engine's log whether it still serves", stalled)
