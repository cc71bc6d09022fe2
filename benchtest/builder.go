package benchtest

import (
	"context"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// ahead is how many requests are built before they are due.
const ahead = 64

// builder makes the requests of indices in order, ahead of time.
func (p *pass) builder(ctx context.Context, indices func(yield func(due) bool)) <-chan *flight {
	out := make(chan *flight, ahead)
	p.built = make(chan struct{})
	go func() {
		defer close(p.built)
		defer close(out)
		defer p.recovered("the workload or the arrival process")
		for d := range indices {
			f, err := p.build(d.index)
			if err != nil {
				p.crashWith(err)
				return
			}
			f.request.Stamp = p.now
			f.due(d.at, d.phase)
			p.prepare(f)
			select {
			case out <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// next is the next request of a builder; nil where there is none, or a reason
// to stop. One is ready nearly always, and then no timer is made.
func (p *pass) next(ctx context.Context, flights <-chan *flight) *flight {
	if ctx.Err() != nil {
		return nil
	}
	select {
	case f := <-flights:
		return f
	default:
	}
	timer := time.NewTimer(stalled)
	defer timer.Stop()
	select {
	case f := <-flights:
		return f
	case <-timer.C:
		p.crashWith(fmt.Errorf("benchtest: no request was made for %v: the workload, the arrival process or the engine's Prepare hangs: none may wait", stalled))
	case <-ctx.Done():
	}
	return nil
}

// stopBuilding waits for the builder, which has been told to stop.
func (p *pass) stopBuilding() {
	timer := time.NewTimer(returnGrace)
	defer timer.Stop()
	select {
	case <-p.built:
	case <-timer.C:
		p.crashWith(fmt.Errorf("benchtest: the workload, the arrival process or the engine's Prepare did not return within %v of the end of the load: none may wait", returnGrace))
	}
}

// prepare has the engine do what it can of a request before it is due.
func (p *pass) prepare(f *flight) {
	if engine, ok := p.engine.(engines.Preparer); ok {
		defer p.recovered("the engine's Prepare")
		engine.Prepare(&f.request)
	}
}
