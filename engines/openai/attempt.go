package openai

import (
	"net/http"
	"net/http/httptrace"
	"slices"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// attempt is one request on its way.
type attempt struct {
	flow flow
	// conn is the connection that stamps for net/http; stay is what is known
	// of whether the connection stays. Nil before there is one.
	conn *conn
	stay *stay
	keep bool // both sides said that the connection stays
	// start is when it asked for a connection: its body is made by then.
	start time.Duration
	began time.Time // the same, for net/http; else zero
	got   time.Time // when it had its connection; zero before
	// kept: its connection had been open for so long that the server may have
	// closed it without our knowing.
	kept  bool
	reply engines.Reply
}

// unwritten is what a reply says of a request that was sent anew.
const unwritten = "the server had closed the connection that was kept for the request before anything was written on it: the request was sent on another"

// warn adds a warning to the reply, once.
func (a *attempt) warn(text string) {
	if !slices.Contains(a.reply.Warnings, text) {
		a.reply.Warnings = append(a.reply.Warnings, text)
	}
}

// gotConn notes the connection that the transport chose; it runs before
// anything is written.
func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	if a.conn != nil { // it is the second
		a.warn(map[bool]string{true: moved, false: unwritten}[a.shared()])
		a.leave()
	}
	a.conn = stamping(info.Conn)
	early := a.conn != nil && a.conn.early
	// Of the connections that are shared it is not told which a request waited for.
	there := early && !info.Reused || info.WasIdle && a.conn != nil && a.conn.shared == nil
	a.connected(info.Reused || early, there, info.Reused || early && time.Since(a.conn.opened) >= soon)
	if a.conn == nil {
		return
	}
	a.waited(a.conn.slow)
	a.stay = &a.conn.stay
	a.conn.ended.Store(0)
	if a.shared() {
		a.flow.sent.Store(a.flow.now())
		a.conn.shared.count(a.conn, 1)
		if full := a.conn.shared.full(a.conn); full != "" && !a.conn.opened.Before(a.began) {
			a.warn(full) // it, or another that waited, had the connection opened
		}
		return
	}
	a.flow.wrote.Store(false) // what was before was not written
	a.conn.flow.Store(&a.flow)
}

// leave is when the attempt has done with its connection.
func (a *attempt) leave() {
	switch {
	case a.conn == nil:
	case a.shared():
		a.conn.shared.count(a.conn, -1)
	default:
		a.conn.flow.CompareAndSwap(&a.flow, nil)
	}
	a.conn = nil
}

// shared reports that other requests are on the same connection.
func (a *attempt) shared() bool { return a.conn != nil && a.conn.shared != nil }

// arrived is when what was just read of the body was readable. On a shared
// connection it is when that was last read: what came for others since makes
// it late by as much, never early.
func (a *attempt) arrived() time.Duration {
	if a.shared() && a.flow.clock != nil {
		now := a.flow.now()
		return time.Duration(now) - (elapsed() - time.Duration(a.conn.last.Load()))
	}
	return time.Duration(a.flow.read.Load())
}

// connected notes that the attempt has its connection: whether it had been
// opened before, whether it was there when it was asked for, so that taking it is
// no wait, and whether the server may have closed it since.
func (a *attempt) connected(reused, there, kept bool) {
	a.got, a.kept = time.Now(), kept
	a.reply.NewConnection = !reused
	a.reply.Connect = 0
	if !there {
		a.reply.Connect = time.Duration(a.flow.now()) - a.start
	}
}

// waited says what there is to say of a connection that was opened for it.
func (a *attempt) waited(slow string) {
	if a.reply.NewConnection && slow != "" {
		a.warn(slow)
	}
}

// answered notes the head of the answer.
func (a *attempt) answered(resp *http.Response) {
	a.reply.Status = resp.StatusCode
	if resp.Proto != "HTTP/1.1" {
		a.reply.Protocol = resp.Proto
	}
}
