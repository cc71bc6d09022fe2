package openai

import (
	"context"
	"net"
	"sync"
	"time"
)

// ahead are connections that were opened for net/http before it asks for them,
// which it has no way to be told.
type ahead struct {
	mu    sync.Mutex
	conns []*conn
	times []time.Time // when each was opened
	timer *time.Timer
}

// lasting is how many there are that will not soon have waited for too long.
func (a *ahead) lasting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, opened := range a.times {
		if time.Since(opened) < idleTimeout-soon {
			n++
		}
	}
	return n
}

// put adds one.
func (a *ahead) put(c *conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.early, c.opened = true, time.Now()
	a.conns, a.times = append(a.conns, c), append(a.times, c.opened)
	if a.timer == nil {
		a.timer = time.AfterFunc(idleTimeout, a.expire)
	} else if len(a.conns) == 1 {
		a.timer.Reset(idleTimeout)
	}
}

// take is the one that was opened last, nil when there is none.
func (a *ahead) take() *conn {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.conns) - 1
	if n < 0 || time.Since(a.times[n]) >= idleTimeout {
		return nil
	}
	c := a.conns[n]
	a.conns[n] = nil
	a.conns, a.times = a.conns[:n], a.times[:n]
	return c
}

// expire closes those that have waited for too long.
func (a *ahead) expire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for n < len(a.conns) && time.Since(a.times[n]) >= idleTimeout {
		a.conns[n].Close()
		n++
	}
	a.conns = append(a.conns[:0], a.conns[n:]...)
	a.times = append(a.times[:0], a.times[n:]...)
	if len(a.conns) > 0 {
		a.timer.Reset(idleTimeout - time.Since(a.times[0]))
	}
}

// close closes all.
func (a *ahead) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.conns {
		c.Close()
	}
	a.conns, a.times = nil, nil
	if a.timer != nil {
		a.timer.Stop()
	}
}

// dialAhead opens a connection to the server and keeps it.
func (t *transport) dialAhead(ctx context.Context) error {
	dial := t.DialContext
	if t.secure {
		dial = t.DialTLSContext
	}
	c, err := dial(context.WithValue(ctx, anew{}, true), "tcp", t.address)
	if err != nil {
		return err
	}
	t.ahead.put(c.(*conn))
	return nil
}

// anew marks a dial that must open a connection.
type anew struct{}

// early is a connection that was opened ahead, unless there is none or the
// dial must open one.
func (t *transport) early(ctx context.Context, addr string) net.Conn {
	if ctx.Value(anew{}) == nil && addr == t.address {
		if c := t.ahead.take(); c != nil {
			return c
		}
	}
	return nil
}
