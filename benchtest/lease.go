package benchtest

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/openloop-go/openloop/engines"
)

// leases are the engines that this process measures on a real clock. One
// measurement at a time has an engine, because two would measure each other.
var leases struct {
	sync.Mutex
	of map[engines.Engine]*lease
	// next is the number of the next lease.
	next int
}

// lease is what the process remembers of an engine between measurements.
type lease struct {
	free chan struct{}
	// number orders leases: who holds two has taken the lower one first, so
	// that two such never wait for each other.
	number int

	mu     sync.Mutex
	holder string
	start  string
}

// hold waits for the engine, in this process and then among processes, and
// returns the function that gives it back.
// Engines in virtual time are not shared: each lives in its own bubble.
func (s *session) hold(ctx context.Context) (release func(), err error) {
	l := s.leased()
	if l == nil {
		return func() {}, nil
	}
	select {
	case <-l.free:
	default:
		l.mu.Lock()
		holder := l.holder
		l.mu.Unlock()
		s.logf("waiting for the engine, which %s measures", holder)
		select {
		case <-l.free:
		case <-ctx.Done():
			return nil, fmt.Errorf("benchtest: waited for the engine, which %s measures: %w", holder, context.Cause(ctx))
		}
	}
	l.mu.Lock()
	l.holder = orUnknown(s.options.Test)
	l.mu.Unlock()
	give, err := s.holdOutside(ctx)
	if err != nil {
		l.free <- struct{}{}
		return nil, err
	}
	return func() {
		give()
		l.free <- struct{}{}
	}, nil
}

// holdOutside keeps other processes off the engine, where they could reach it.
func (s *session) holdOutside(ctx context.Context) (release func(), err error) {
	h, ok := s.engine.(engines.Holder)
	if !ok {
		return func() {}, nil
	}
	give, err := h.Hold(ctx, s.options.Test, s.logf)
	if err != nil {
		return nil, fmt.Errorf("benchtest: hold the engine: %w", err)
	}
	return func() {
		if err := give(); err != nil {
			s.logf("the engine could not be given back: %v", err)
		}
	}, nil
}

// leased is the engine's lease; nil where engines are not shared.
func (s *session) leased() *lease {
	if s.lease == nil && !s.virtual && reflect.ValueOf(s.engine).Comparable() {
		s.lease = leaseOf(s.engine)
	}
	return s.lease
}

func leaseOf(engine engines.Engine) *lease {
	leases.Lock()
	defer leases.Unlock()
	if leases.of == nil {
		leases.of = map[engines.Engine]*lease{}
	}
	l := leases.of[engine]
	if l == nil {
		l = &lease{free: make(chan struct{}, 1), number: leases.next}
		leases.next++
		l.free <- struct{}{}
		leases.of[engine] = l
	}
	return l
}

// startID names the engine's present start: the same for every measurement
// that this process makes on it. It serves engines that do not name it
// themselves.
func (l *lease) startID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start == "" {
		l.start = fmt.Sprintf("%016x", random())
	}
	return l.start
}

// restarted forgets the start's name. A nil lease has none.
func (l *lease) restarted() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start = ""
}
