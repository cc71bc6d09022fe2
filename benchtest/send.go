package benchtest

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// launch sends the request on its way and returns at once.
func (p *pass) launch(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flights = append(p.flights, f)
	if p.maxInFlight > 0 && p.open >= p.maxInFlight {
		f.fail(failCapped, fmt.Sprintf("not sent: %d in flight, Point.MaxInFlight is %d", p.open, p.maxInFlight))
		return
	}
	p.open++
	if f.line.Phase == metric.Window {
		p.counted++
	}
	if p.clientLimit > 0 && p.running >= p.clientLimit {
		f.request.Prepared = nil // of thousands that wait it would be much
		p.queue = append(p.queue, f)
		return
	}
	p.start(f)
}

// start gives the request its goroutine. p.mu is held.
func (p *pass) start(f *flight) {
	p.working()
	p.running++
	p.peak = max(p.peak, p.running)
	go p.generate(f)
}

func (p *pass) generate(f *flight) {
	defer p.finish(f)
	p.stream(f)
}

// stream has the engine serve the request.
func (p *pass) stream(f *flight) {
	defer func() {
		if v := recover(); v != nil {
			f.line.Failure, f.line.Message = failPanic, fmt.Sprint("panic: ", v)
			p.crashWith(fmt.Errorf("benchtest: the engine panicked in Generate (request %s): %v\n%s", f.line.ID, v, debug.Stack()))
		}
	}()
	reply, err := p.engine.Generate(p.life, &f.request, func(c engines.Chunk) {
		at := c.At
		if at == 0 {
			at = p.now() // the engine does not stamp
		}
		p.hearing.heard(at)
		f.emit(c)
	})
	f.end(reply, err, context.Cause(p.life), p.model)
}

// finish takes a request that has ended off the books and lets the next one
// of the queue go.
func (p *pass) finish(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now() // here, so that slots become free in order
	p.hearing.heard(now)
	f.ended = true
	p.bound.ended(&f.line)
	f.drop()
	p.running--
	p.left(f, now)
	if len(p.queue) > 0 && p.life.Err() == nil {
		next := p.queue[0]
		p.queue = p.queue[1:]
		next.line.Released = release(next.line.Scheduled, now)
		p.start(next)
	}
	if p.inFlight > 0 {
		p.freed <- slot{now, f.index}
	}
}

// release is when a request that was due then is let go, zero where it did not
// wait: what it is late by is lag.
func release(due, at time.Duration) time.Duration {
	if at <= due {
		return 0
	}
	return at
}

// left counts a request that is open no more. p.mu is held.
func (p *pass) left(f *flight, now time.Duration) {
	p.open--
	if f.line.Phase == metric.Window {
		p.counted--
		p.lastEnd = now
	}
	p.signal()
}

// signal closes the channels whose time has come. p.mu is held.
func (p *pass) signal() {
	if p.closed && p.counted == 0 {
		closeOnce(p.windowDone)
	}
	if p.over && p.open == 0 && p.probing == 0 {
		closeOnce(p.idle)
	}
}

// closeOnce closes c unless it is closed; its callers hold the lock.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
