package openai

import (
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// attempt is one request on its way.
type attempt struct {
	flow flow
	// conn is the connection that stamps for net/http; stay is what is known
	// of whether the connection stays. Nil before there is one.
	conn   *conn
	stay   *stay
	keep   bool // both sides said that the connection stays
	start  time.Duration
	got    time.Time // when it had its connection; zero before
	reused bool
	reply  engines.Reply
}

// gotConn notes the connection that the transport chose; it runs before
// anything is written.
func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.conn = stamping(info.Conn)
	a.connected(info.Reused || a.conn != nil && a.conn.early)
	if a.conn != nil {
		a.stay = &a.conn.stay
		a.conn.ended.Store(0)
	}
	if a.shared() {
		a.flow.sent.Store(a.flow.now())
	} else if a.conn != nil {
		a.conn.flow.Store(&a.flow)
	}
}

// shared reports that other requests are on the same connection.
func (a *attempt) shared() bool { return a.conn != nil && a.conn.shared }

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

// connected notes that the attempt has its connection.
func (a *attempt) connected(reused bool) {
	a.got, a.reused = time.Now(), reused
	a.reply.NewConnection = !reused
	a.reply.Connect = time.Duration(a.flow.now()) - a.start
}

// answered notes the head of the answer.
func (a *attempt) answered(resp *http.Response) {
	a.reply.Status = resp.StatusCode
	if resp.Proto != "HTTP/1.1" {
		a.reply.Protocol = resp.Proto
	}
}
