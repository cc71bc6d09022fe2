package openai

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pool keeps the direct transport's idle connections, without a cap.
type pool struct {
	// dial opens a connection.
	dial  func(ctx context.Context) (*wire, error)
	habit habit

	mu    sync.Mutex
	idle  []*wire // the one used last is last
	timer *time.Timer
}

// get is an idle connection or a new one, which serves one call only if it is
// to be fresh.
func (p *pool) get(ctx context.Context, fresh bool) (*wire, error) {
	if !fresh {
		if w := p.kept(); w != nil {
			return w, nil
		}
	}
	w, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	w.fresh = fresh
	return w, nil
}

// kept is the connection that became idle last, nil if none may be used.
func (p *pool) kept() *wire {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := len(p.idle) - 1; n >= 0; n-- {
		w := p.idle[n]
		p.idle[n], p.idle = nil, p.idle[:n]
		if now.Sub(w.idle) < idleTimeout && w.alive() {
			return w
		}
	}
	return nil
}

// lasting is how many idle connections will not soon have been idle for too
// long. It drops those that have been closed.
func (p *pool) lasting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = slices.DeleteFunc(p.idle, func(w *wire) bool { return !w.alive() })
	n := 0
	for _, w := range p.idle {
		if time.Since(w.idle) < idleTimeout-soon {
			n++
		}
	}
	return n
}

func (p *pool) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// dialAhead opens a connection before a call needs it.
func (p *pool) dialAhead(ctx context.Context) error {
	w, err := p.dial(ctx)
	if err != nil {
		return err
	}
	w.used = true // to its first call it is as if it had been kept
	p.put(w)
	return nil
}

// put makes a connection idle.
func (p *pool) put(w *wire) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.idle = time.Now()
	p.idle = append(p.idle, w)
	if p.timer == nil {
		p.timer = time.AfterFunc(idleTimeout, p.expire)
	} else if len(p.idle) == 1 {
		p.timer.Reset(idleTimeout)
	}
}

// expire closes the connections that have been idle for too long.
func (p *pool) expire() {
	now := time.Now()
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && now.Sub(p.idle[n].idle) >= idleTimeout {
		n++
	}
	old := append([]*wire(nil), p.idle[:n]...)
	p.idle = append(p.idle[:0], p.idle[n:]...)
	if len(p.idle) > 0 {
		p.timer.Reset(idleTimeout - now.Sub(p.idle[0].idle))
	}
	p.mu.Unlock()
	for _, w := range old {
		w.shut()
	}
}

// closeIdle closes the connections that are idle.
func (p *pool) closeIdle() {
	p.mu.Lock()
	old := p.idle
	p.idle = nil
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	for _, w := range old {
		w.shut()
	}
}
