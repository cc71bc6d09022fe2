package openai

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// flow is what a connection notes of the one request that it serves now. The
// transport's goroutines write it and Generate reads it, hence the atomics.
type flow struct {
	// clock is the driver's; it may be nil.
	clock func() time.Duration
	wrote atomic.Bool
	sent  atomic.Int64 // when the first byte left
	read  atomic.Int64 // when the last bytes became readable
}

func (f *flow) now() int64 {
	if f.clock == nil {
		return 0
	}
	return int64(f.clock())
}

// conn is a connection that stamps: the first byte of a request just before
// the write that carries it, and every read just after it returned.
//
// It also never hands the beginning of one chunk over together with the end
// of another. net/http's chunk reader, once it has begun a chunk, blocks until
// that chunk is complete or its buffer full; given "event A, half of event B"
// it would keep A back until B is whole, and A would be stamped late by as
// much as the server takes for B. Where bytes follow the end of an event's
// chunk, they are held for the next Read, which returns them at once. (Several
// events in one chunk that arrives in pieces still wait for the last piece.)
type conn struct {
	net.Conn
	flow atomic.Pointer[flow]
	held []byte
	err  error
	// shared: it is one of those that carry several requests at once (HTTP/2), so
	// that no flow can be told of what it reads; last is when it read, by elapsed.
	// settings is the reader's.
	shared   *sharing
	last     atomic.Int64
	settings settings
	// opened is when it was, early that this was before a request asked for it.
	opened time.Time
	early  bool
	// slow is what the reply that waited for it has to say; see open.
	slow string
	// closed: it is closed from this side.
	closed atomic.Bool
	stay
}

// chunkEnd is the end of a chunk that ends with an event: the event's blank
// line, whose last byte is a line feed, and the chunk's own line end.
var chunkEnd = []byte("\n\r\n")

func (c *conn) Read(p []byte) (int, error) {
	if len(c.held) > 0 {
		n := copy(p, c.held)
		c.held = c.held[n:]
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.Conn.Read(p)
	if n == 0 {
		if err != nil && !c.closed.Load() && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
			c.broken.Store(true)
			c.judge()
		}
		return n, err
	}
	if c.shared != nil {
		c.last.Store(int64(elapsed()))
		if !c.settings.told {
			if most, tells := c.settings.take(p[:n]); tells {
				c.shared.allow(c, most)
			}
		}
		return n, err
	}
	if f := c.flow.Load(); f != nil {
		f.read.Store(f.now())
	}
	if i := bytes.LastIndex(p[:n], chunkEnd); i >= 0 && i+len(chunkEnd) < n {
		end := i + len(chunkEnd)
		c.held = append(c.held[:0], p[end:n]...)
		c.err, n = err, end
		return n, nil
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if f := c.flow.Load(); f != nil && f.wrote.CompareAndSwap(false, true) {
		f.sent.Store(f.now())
	}
	n, err := c.Conn.Write(p)
	if errors.Is(err, io.ErrClosedPipe) && !c.closed.Load() {
		err = &net.OpError{Op: "write", Net: "pipe", Err: io.ErrUnexpectedEOF} // the other side closed it
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.closed.Store(true)
	if c.shared != nil {
		c.shared.gone(c)
	}
	return c.Conn.Close()
}

// stamping finds the stamping connection below c, which may be TLS through a
// proxy.
func stamping(c net.Conn) *conn {
	for {
		switch t := c.(type) {
		case *conn:
			return t
		case interface{ NetConn() net.Conn }:
			c = t.NetConn()
		default:
			return nil
		}
	}
}
