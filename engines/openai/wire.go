package openai

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// wire is one connection of the direct transport: HTTP/1.1 without a
// goroutine of its own. Its carrier reads and hands over what came.
type wire struct {
	// call is the one that it serves now, nil when it is idle.
	call atomic.Pointer[call]

	stay
	pool    *pool
	carrier carrier
	// fresh: it serves one call only.
	fresh bool
	// used: it was opened before the call that it serves; served: it has served
	// one before.
	used, served bool
	// ours: it is this side that ends it.
	ours atomic.Bool
	// slow is what the reply that waited for it has to say; see open.
	slow string
	// idle is when it became idle; the pool's.
	idle time.Time

	// mu guards what follows, and the carrier against being used once closed.
	mu     sync.Mutex
	closed bool
	err    error // why
}

// carrier moves a wire's bytes. Its methods are called under the wire's mu
// and do not wait.
type carrier interface {
	// send sends b, at once or as the connection takes it; it may keep b. A
	// failure shows in reading.
	send(b []byte)
	// cut breaks the connection: reading ends soon.
	cut()
	// spent reports that an idle connection has something to be read, its end
	// above all, which has not been read yet.
	spent() bool
	// unsent reports that not all that was to be sent has been.
	unsent() bool
}

// begin sends the request of a call. An error is why the connection had been
// closed; the call has not begun then.
func (w *wire) begin(c *call, request []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.err
	}
	w.ended.Store(0)
	c.sent = time.Duration(c.attempt.flow.now())
	c.attempt.flow.sent.Store(int64(c.sent))
	c.at.Store(int64(elapsed()))
	w.call.Store(c)
	w.carrier.send(request)
	return nil
}

// abort breaks the connection if it still serves the call.
func (w *wire) abort(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.call.Load() == c && !w.closed {
		w.ours.Store(true) // its answer may be whole before that shows
		w.carrier.cut()
	}
}

// shut breaks the connection if it serves none.
func (w *wire) shut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.call.Load() == nil && !w.closed {
		w.ours.Store(true)
		w.carrier.cut()
	}
}

// took hands over bytes that a read brought. It reports whether the connection
// goes on: if not, it is closed to others and its carrier closes it.
func (w *wire) took(b []byte, from arrival) bool {
	c := w.call.Load()
	if c == nil {
		return w.close(errSurplus)
	}
	rest, over := c.take(b, from)
	if !over {
		return true
	}
	if c.exchange.place != complete || c.exchange.closes || w.fresh || len(rest) > 0 || w.unsent() {
		return w.close(io.EOF)
	}
	c.attempt.keep, w.used, w.served = true, true, true
	w.call.Store(nil)
	w.pool.put(w)
	close(c.done)
	return true
}

// lost takes the end of the connection: nil for a clean one.
func (w *wire) lost(why error) {
	if w.call.Load() == nil && !w.ours.Load() {
		w.broken.Store(true)
		w.judge()
	}
	w.close(why)
}

// close closes the wire to calls and ends the one that it serves. It returns
// false, as took does. The end can complete an event: the wire still has its
// call then, so that threw finds it.
func (w *wire) close(why error) bool {
	w.mu.Lock()
	if !w.closed {
		if w.closed, w.err = true, why; why == nil {
			w.err = io.EOF
		}
	}
	w.mu.Unlock()
	if c := w.call.Load(); c != nil {
		if !c.ended {
			c.eof(why)
		}
		w.call.Store(nil)
		close(c.done)
	}
	return false
}

// alive reports that neither side has closed the idle wire.
func (w *wire) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.closed && !w.ours.Load() && !w.carrier.spent()
}

// unsent reports that the server has answered before all of the request was
// sent: it would take the next one for the rest of this. An answer can overtake
// the return of a send that was whole, which is why it waits for that.
func (w *wire) unsent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.carrier.unsent()
}

// threw ends the call whose emit did not return.
func (w *wire) threw(v any, left bool) {
	if c := w.call.Load(); c != nil {
		c.panicked, c.left, c.ended = v, left, true
		c.release()
	}
	w.close(io.EOF)
}
