package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// epoch is the origin of elapsed.
var epoch = time.Now()

// elapsed is the monotonic clock on which the direct transport notes when
// bytes were readable. A call ties it to the driver's clock.
func elapsed() time.Duration { return time.Since(epoch) }

// call is one generation on a connection of the direct transport. From the
// time it begins until done is closed it belongs to whoever reads for the
// connection.
//
// All that an event touches lies together: with thousands of streams each event
// finds what it needs in main memory, and that costs more than its parsing.
type call struct {
	// at is when the last bytes were readable, by elapsed. Silence reads it.
	at atomic.Int64
	// offset is the driver's clock minus elapsed; stamped is false when the
	// request carries no clock.
	offset  time.Duration
	stamped bool
	// sent is when the request was, by the driver's clock.
	sent time.Duration

	exchange exchange
	stream   stream
	attempt  attempt
	engine   *Engine

	// header is the response's; said is the body of a refusal.
	header  http.Header
	said    []byte
	inflate *inflate
	// hang gives the call up. silence does when no byte has come for too long,
	// and stay when the stream does not end after its last event.
	hang          context.CancelCauseFunc
	silence, stay *time.Timer

	done chan struct{}
	// failure is why a 2xx reply was refused, bad what feed says is wrong with
	// it, err why reading ended otherwise; all nil after a clean end.
	failure, bad, err error
	// panicked is what emit panicked with; left that it ended its goroutine.
	panicked any
	left     bool
	ended    bool
}

// errEnough ends an exchange of which no more is wanted.
var errEnough = errors.New("enough of the body was read")

func newCall(e *Engine, clock func() time.Duration) *call {
	c := &call{engine: e, done: make(chan struct{})}
	c.attempt.flow.clock = clock
	c.stream.reply = &c.attempt.reply
	c.exchange.to = c
	return c
}

// begin is called before the call asks for its connection. hang gives it up.
func (c *call) begin(ctx context.Context, emit func(engines.Chunk), hang context.CancelCauseFunc) {
	c.stream.ctx, c.stream.emit, c.hang = ctx, emit, hang
	c.tie()
	if limit := c.engine.cfg.Silence; limit > 0 {
		c.at.Store(int64(elapsed()))
		c.silence = time.AfterFunc(1<<62, c.listen)
		c.silence.Reset(limit)
	}
}

// listen gives the call up after a silence, or waits for its end. (A timer that
// each read sets anew would cost each event a lock.)
func (c *call) listen() {
	rest := c.engine.cfg.Silence - (elapsed() - time.Duration(c.at.Load()))
	if rest > 0 {
		c.silence.Reset(rest)
		return
	}
	c.hang(errSilent)
}

// tie finds how the driver's clock stands to elapsed: two readings of one enclose
// one of the other. The closest of a few is taken, since a goroutine can be
// put aside between any two.
func (c *call) tie() {
	if c.attempt.flow.clock == nil {
		return
	}
	c.stamped = true
	width := time.Duration(1<<63 - 1)
	for range 4 {
		before := elapsed()
		at := c.attempt.flow.clock()
		after := elapsed()
		if d := after - before; d < width {
			width, c.offset = d, at-before-d/2
		}
		if width < 2*time.Microsecond {
			return
		}
	}
}

// time is a time of elapsed on the driver's clock.
func (c *call) time(at time.Duration) time.Duration {
	if !c.stamped {
		return 0
	}
	return at + c.offset
}

// take takes the next bytes. The call is over when it reports so; rest is what
// followed its response.
func (c *call) take(b []byte, from arrival) (rest []byte, over bool) {
	// The clocks of the two sides of a write are not exact to the nanosecond,
	// and no answer comes before its question.
	c.at.Store(int64(from.at))
	c.stream.at, c.stream.apart = max(c.time(from.at), c.sent), from.apart
	events := c.stream.events
	rest, err := c.exchange.take(b)
	lag := from.lag
	if n := c.stream.events - events; n > 1 || n == 1 && c.stream.parser.within() {
		lag = max(lag, from.most) // an event came before the last byte
	}
	if !c.stream.parser.within() {
		c.stream.lost = 0 // nothing followed the last event
	}
	c.attempt.reply.ReadLag = max(c.attempt.reply.ReadLag, lag)
	switch {
	case err != nil:
		c.end(err)
		return nil, true
	case c.exchange.place == complete:
		c.end(nil)
		return rest, true
	case c.stay == nil && c.stream.over():
		c.stay = time.AfterFunc(afterDone, func() { c.hang(errStayed) })
	}
	return nil, false
}

// eof takes the end of the connection; why is nil for a clean one.
func (c *call) eof(why error) {
	if why == nil || why == io.EOF || c.exchange.foreign() {
		why = c.exchange.eof()
	}
	c.end(why)
}

// end is the end of reading.
func (c *call) end(err error) {
	c.ended = true
	defer c.release()
	if c.failure != nil || c.bad != nil || err == errEnough {
		return
	}
	if c.err = err; err == nil && c.accepted() {
		if c.inflate != nil {
			if c.err = c.inflate.end(); c.err != nil {
				return
			}
		}
		c.stream.end()
	}
}

// release gives back what the call holds, however it ended.
func (c *call) release() {
	if c.stay != nil {
		c.stay.Stop()
	}
	if c.inflate != nil {
		c.inflate.close()
	}
}

// accepted reports that the status is 2xx.
func (c *call) accepted() bool { return c.attempt.reply.Status/100 == 2 }

// head takes the response's head.
func (c *call) head(resp *http.Response) error {
	c.attempt.answered(resp)
	c.header = resp.Header
	if !c.accepted() {
		return nil
	}
	compressed, err := c.engine.opened(&c.stream, resp)
	if c.failure = err; err == nil && compressed {
		c.inflate = newInflate(c.feed)
	}
	return err
}

// body takes the next bytes of the body.
func (c *call) body(b []byte) error {
	switch {
	case !c.accepted():
		c.said = append(c.said, b[:min(len(b), saidLimit-len(c.said))]...)
		if len(c.said) == saidLimit {
			return errEnough
		}
		return nil
	case c.inflate != nil:
		return c.inflate.take(b)
	default:
		return c.feed(b)
	}
}

func (c *call) feed(b []byte) error {
	c.bad = c.stream.feed(b)
	return c.bad
}

// result is what came of the call, once it is done.
func (c *call) result(parent context.Context, why error) error {
	e, a, status := c.engine, &c.attempt, c.attempt.reply.Status
	what := "POST " + e.route.Path
	switch {
	case c.left:
		runtime.Goexit()
	case c.panicked != nil:
		panic(c.panicked)
	case c.failure != nil:
		return c.failure
	case status == 0:
		return e.broken(parent, why, a, what, c.err)
	case !c.accepted():
		return e.status(what, status, c.header, c.said)
	case c.bad != nil:
		return e.unfit(parent, why, a, &c.stream, c.bad)
	case c.err != nil:
		return e.cut(parent, why, a, &c.stream, c.err)
	}
	return e.verdict(&c.stream)
}
