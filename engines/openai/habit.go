package openai

import (
	"context"
	"sync/atomic"
	"time"
)

// habit is what a server does with a connection after a stream.
//
// Some close it without having said so (llama.cpp's server does, after every
// stream). A request that is sent into that moment is lost, and one that
// follows at once, as with one in flight, is always sent into it. So the first
// generation waits a little to see whether its connection stays, and from the
// first connection that does not stay on, each generation gets its own.
type habit struct {
	closes atomic.Bool
	asked  atomic.Bool
	seen   chan struct{} // closed with the first connection that does not stay
}

const (
	// closesWithin is how soon after a stream a server closes a connection out
	// of habit, and not for idleness.
	closesWithin = time.Second
	// habitWait is how long the first generation waits to see it.
	habitWait = 100 * time.Millisecond
)

// stay is what is known of whether one connection stays.
type stay struct {
	habit *habit
	// ended is when its last stream ended, if it is to be kept, by the wall
	// clock; broken says that the other side has closed it.
	ended  atomic.Int64
	broken atomic.Bool
}

// judge notes a habit when the server closed the connection soon after a
// stream. It is called when either is found out, since the order is open.
func (c *stay) judge() {
	ended := c.ended.Load()
	if ended == 0 || !c.broken.Load() || c.habit == nil {
		return
	}
	if time.Since(time.Unix(0, ended)) < closesWithin && c.habit.closes.CompareAndSwap(false, true) {
		close(c.habit.seen)
	}
}

// kept notes that a stream ended well on a connection that both sides said
// they would keep. The engine's first such stream waits to see what comes.
func (c *stay) kept(ctx context.Context) {
	c.ended.Store(time.Now().UnixNano())
	c.judge()
	// Not a sync.Once: others need not wait.
	if !c.habit.asked.CompareAndSwap(false, true) {
		return
	}
	wait := time.NewTimer(habitWait)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-c.habit.seen:
	case <-ctx.Done():
	}
}
