package benchtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// dispatchOpen sends each request when it is due, whatever became of those
// before it. It returns when no more are to be sent.
func (p *pass) dispatchOpen(ctx context.Context) {
	ctx, stop := p.stoppable(ctx)
	defer stop()
	opened, closed := false, false
	for f := range p.builder(ctx, p.dues()) {
		at := f.line.Scheduled
		switch {
		case f.line.Phase != metric.Cooldown:
			p.until(ctx, at, nil)
		case !closed:
			p.closeWindow(at)
			p.until(ctx, at, nil)
			closed = true
			p.readEdge(1)
		default:
			p.until(ctx, min(at, p.cutAt()), p.windowDone)
		}
		if ctx.Err() != nil {
			return
		}
		if closed && p.enough(at) {
			return
		}
		if f.line.Phase == metric.Window && !opened {
			opened = true
			p.openWindow(at)
		}
		p.launch(f)
	}
}

// enough reports whether the arrival at the given time of cooldown need not be
// sent: every request of the window had ended before, or the drain limit has
// passed.
func (p *pass) enough(at time.Duration) bool {
	end, ended := p.windowEnded()
	return ended && end < at || at > p.cutAt()
}

// stoppable is ctx that a crash ends as well.
func (p *pass) stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-p.crashed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// slot is a slot of a closed loop that has become free, and whose request it
// held.
type slot struct {
	at    time.Duration
	index int
}

// stalled bounds the wait for a slot of a closed loop to become free.
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
			f, ok := <-flights
			if !ok {
				return
			}
			f.due(s.at, phase)
			if phase == metric.Window && p.from == 0 {
				p.openWindow(s.at)
			}
			p.launch(f)
			sent++
		}
	}
}

// indices yields 0, 1, 2, … for requests whose times are not known yet.
func indices(yield func(due) bool) {
	for i := 0; yield(due{index: i}); i++ {
	}
}

// nextFree waits for slots to become free; nil when there is a reason to
// stop. Slots that become free at one instant are taken together, in order of
// their requests, so that the same seeds give the same order; in virtual time,
// where many do, the instant is over a nanosecond later.
func (p *pass) nextFree(ctx context.Context) []slot {
	limit := stalled
	if p.closed {
		limit = p.cutAt() - p.now()
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var free []slot
	select {
	case s := <-p.freed:
		free = append(free, s)
	case <-timer.C:
		if !p.closed {
			p.crashWith(errStalled)
		}
		return nil
	case <-ctx.Done():
		return nil
	}
	if p.virtual {
		time.Sleep(1)
	}
	for more := true; more; {
		select {
		case s := <-p.freed:
			free = append(free, s)
		default:
			more = false
		}
	}
	sortSlots(free)
	return free
}

func sortSlots(free []slot) {
	slices.SortFunc(free, func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index))
	})
}

var errStalled = errors.New("benchtest: the closed loop stalled: no request ended for 10m0s")
