package server

import (
	"context"
	"sync"
)

// occupants counts the servers of this process on each GPU, by UUID: two that
// are measured in turns may share one.
var occupants struct {
	sync.Mutex
	of map[string]int
}

// occupy adds to the count of the claim's GPUs, and reports whether there are
// other servers.
func (cl *claim) occupy(n int) (shared bool) {
	occupants.Lock()
	defer occupants.Unlock()
	if occupants.of == nil {
		occupants.of = map[string]int{}
	}
	for _, uuid := range cl.uuids() {
		occupants.of[uuid] += n
		shared = shared || occupants.of[uuid] > max(n, 0)
	}
	cl.inside = n > 0
	return shared
}

// enter waits, before a start, until the memory of the devices is still.
func (cl *claim) enter(ctx context.Context) error {
	if cl == nil {
		return nil
	}
	err := cl.memory.Settle(ctx, cl.occupy(1))
	if err != nil {
		cl.fail()
	}
	return err
}

// fail is for a start that came to nothing.
func (cl *claim) fail() {
	if cl != nil && cl.inside {
		cl.occupy(-1)
	}
}

// ready notes what the server has taken of the devices' memory, and leaving
// what is in use as it is stopped.
func (cl *claim) ready(ctx context.Context) {
	if cl != nil {
		cl.memory.Taken(ctx)
	}
}

func (cl *claim) leaving(ctx context.Context) {
	if cl != nil {
		cl.memory.Leaving(ctx)
	}
}

// left waits, after a stop, until the devices have their memory back.
func (cl *claim) left(ctx context.Context) error {
	if cl == nil || !cl.inside {
		return nil
	}
	return cl.memory.Freed(ctx, cl.occupy(-1))
}
