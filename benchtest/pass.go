package benchtest

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// returnGrace is how long an engine gets to return from Generate once its
// context has ended.
const returnGrace = 10 * time.Second

// pass offers one load to an engine on the clock. One goroutine dispatches,
// one builds the requests before they are due, and each request has its own,
// so that no arrival waits for anything.
type pass struct {
	load
	*waiter
	engine  engines.Engine
	virtual bool

	// life is the context of all requests; abort ends it with a cause.
	life  context.Context
	abort context.CancelCauseFunc

	mu      sync.Mutex
	flights []*flight
	// queue waits for a slot of the client's limit; open is launched or
	// waiting and not ended, running is launched and not ended.
	queue         []*flight
	open, running int
	// peak is the largest running so far.
	peak int
	// counted is how many flights of the window have not ended; when the
	// window has closed and they have, windowDone is closed and lastEnd is when
	// the last of them did.
	counted    int
	closed     bool
	to, from   time.Duration
	lastEnd    time.Duration
	windowDone chan struct{}
	// shut is closed when the window has, or when no more arrivals come.
	shut chan struct{}
	// probes are those beside the load, and probing is how many of them have
	// not ended.
	probes  []*flight
	probing int
	// over is true when no more arrivals come; idle is closed when nothing is
	// open any more.
	over bool
	idle chan struct{}
	// crash is the first panic; crashed is closed with it.
	crash   error
	crashed chan struct{}
	// freed are the slots of a closed loop that have become free; spare are
	// those that the dispatcher has taken from it and not yet refilled.
	freed chan slot
	spare []slot
	// bound keeps a closed loop in bounds; mu guards it.
	bound bound

	edges   [2]edge
	reading sync.WaitGroup
	// read is closed when the edge that was reached last has been read; nil before
	// the first. It is the dispatcher's.
	read chan struct{}
	// built is closed when the builder has ended.
	built   chan struct{}
	onEdge  func() edge
	hearing hearing
	// waker watches how late this process wakes up; nil in virtual time, and in a
	// warmup, of which nothing is reported.
	waker *waker
}

// outcome is what a load came to.
type outcome struct {
	origin   time.Time
	flights  []*flight
	probes   []*flight
	from, to time.Duration
	edges    [2]edge
	// stuck counts requests whose engine never returned.
	stuck int
	// peak is the largest number of requests that were in flight at once.
	peak int
	// bounded is what to say of a cooldown that was bounded.
	bounded string
	// cut is why the load ended before its plan; nil when it did not.
	cut error
}

func newPass(l load, engine engines.Engine, virtual bool, onEdge func() edge) *pass {
	p := &pass{
		load: l, waiter: newWaiter(time.Now(), virtual), engine: engine, virtual: virtual, onEdge: onEdge,
		windowDone: make(chan struct{}), idle: make(chan struct{}), crashed: make(chan struct{}), shut: make(chan struct{}),
		freed: make(chan slot, l.inFlight), bound: newBound(l),
	}
	return p
}

// run offers the load and returns when all of it has ended.
func (p *pass) run(ctx context.Context) outcome {
	p.life, p.abort = context.WithCancelCause(context.WithoutCancel(ctx))
	defer p.abort(nil)
	defer p.close()
	if !p.virtual && p.warmup == 0 {
		p.waker = newWaker(p.origin)
		defer p.waker.stop()
	}
	deaf := p.listen()
	defer deaf()
	probed := p.watchProbes()
	if p.inFlight > 0 {
		p.dispatchClosed(ctx)
	} else {
		p.dispatchOpen(ctx)
	}
	p.stopBuilding()
	out := outcome{cut: p.drained(ctx)}
	probed()
	p.reading.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	out.origin, out.from, out.to, out.edges = p.origin, p.from, p.to, p.edges
	out.bounded, out.peak = p.bound.warning(), p.peak
	out.flights, out.probes = settled(p.flights), settled(p.probes)
	for _, f := range slices.Concat(out.flights, out.probes) {
		if f.stuck {
			out.stuck++
		}
	}
	return out
}

// settled are the flights with a stand-in for each that has not ended.
func settled(flights []*flight) []*flight {
	var out []*flight
	for _, f := range flights {
		if !f.ended {
			// Its goroutine may yet write, so a copy of the plan stands for it.
			f = &flight{line: f.planned, request: engines.Request{MaxTokens: f.request.MaxTokens}, ended: true, stuck: true}
			f.line.Failure, f.line.Message = metric.Unfinished, fmt.Sprintf("the engine did not return from Generate within %v of its context's end", returnGrace)
		}
		out = append(out, f)
	}
	return out
}

// openWindow and closeWindow mark the edges of the window; the engine's
// counters are read at each, beside the load. A window is not opened, and the load
// ends, where nothing of settle has reached the engine.
func (p *pass) openWindow(at time.Duration) bool {
	if err := p.gone(); err != nil {
		p.crashWith(err)
		return false
	}
	p.from = at
	p.readEdge(0)
	return true
}

func (p *pass) closeWindow(at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.to = true, at
	closeOnce(p.shut)
	p.signal()
}

// readEdge reads one edge, and the engine's part of it when that of the edge
// before has been read: of two readings at once the later might come back with
// the older counters.
func (p *pass) readEdge(i int) {
	before, read := p.read, make(chan struct{})
	p.read = read
	p.reading.Go(func() {
		defer close(read)
		defer p.recovered("the engine's counters")
		var here *local
		if !p.virtual {
			here = readLocal(p.now())
			here.wakes = p.waker.take()
		}
		if before != nil {
			<-before
		}
		p.edges[i] = p.onEdge()
		p.edges[i].local = here
	})
}

// windowEnded reports whether every request of the window has ended, and
// when.
func (p *pass) windowEnded() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastEnd, p.closed && p.counted == 0
}

// crashWith keeps the first reason for which the load cannot go on.
func (p *pass) crashWith(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crash == nil {
		p.crash = err
		close(p.crashed)
	}
}

// recovered turns a panic of the goroutine that defers it into the pass's
// error.
func (p *pass) recovered(where string) {
	if v := recover(); v != nil {
		p.crashWith(fmt.Errorf("benchtest: panic in %s: %v\n%s", where, v, debug.Stack()))
	}
}
