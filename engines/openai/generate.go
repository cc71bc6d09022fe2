package openai

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// afterDone is how long a stream may stay open after its last event. Servers
// end it at once; reading to the end lets the connection be used again.
const afterDone = time.Second

var (
	errSilent = errors.New("no byte came for too long")
	errStayed = errors.New("stayed open after the last event")
)

// buffers are read buffers: a stream needs one while it runs.
var buffers = sync.Pool{New: func() any { return new([8 << 10]byte) }}

// Generate implements engines.Engine.
//
// The request is sent once and what comes back is the result. There is one
// exception, before the engine has accepted its first request: when the server
// answers 400 or 422 and names an optional field (continuous_usage_stats,
// return_token_ids, stream_options, one of chat's two limits of length,
// min_tokens, ignore_eos) as one it does not know, the request is sent again
// without it. Every later request lacks the field too and every reply says so
// among its warnings. The generation that proves an engine ready settles this,
// so no measured request is ever sent twice.
func (e *Engine) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	if err := e.check(r); err != nil {
		return engines.Reply{}, err
	}
	for f := e.form.Load(); ; {
		reply, err := e.once(ctx, r, f, emit)
		if len(f.warnings) > 0 {
			reply.Warnings = append(append([]string(nil), f.warnings...), reply.Warnings...)
		}
		next := e.yield(f, err)
		if next == nil {
			return reply, err
		}
		f = next
	}
}

// attempt is one request on its way.
type attempt struct {
	flow   flow
	conn   *conn
	keep   bool // both sides said that the connection stays
	start  time.Duration
	got    time.Time // when it had its connection; zero before
	reused bool
	reply  engines.Reply
}

// gotConn notes the connection that the transport chose; it runs before
// anything is written.
func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.got, a.reused = time.Now(), info.Reused
	a.reply.NewConnection = !info.Reused
	a.reply.Connect = time.Duration(a.flow.now()) - a.start
	if a.conn = stamping(info.Conn); a.conn != nil {
		a.conn.ended.Store(0)
		a.conn.flow.Store(&a.flow)
	}
}

// once sends a request in form f and reads its stream.
func (e *Engine) once(ctx context.Context, r *engines.Request, f *form, emit func(engines.Chunk)) (engines.Reply, error) {
	a := &attempt{flow: flow{clock: r.Stamp}}
	a.start = time.Duration(a.flow.now())
	err := e.roundTrip(ctx, a, r, f, emit)
	a.reply.Closed = time.Duration(a.flow.now())
	a.reply.Sent = time.Duration(a.flow.sent.Load())
	if a.conn != nil {
		a.conn.flow.CompareAndSwap(&a.flow, nil)
		if a.keep {
			a.conn.kept(ctx)
		}
	}
	return a.reply, err
}

func (e *Engine) roundTrip(parent context.Context, a *attempt, r *engines.Request, f *form, emit func(engines.Chunk)) error {
	what := "POST " + e.route.Path
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var silence *time.Timer
	if e.cfg.Silence > 0 {
		silence = time.AfterFunc(e.cfg.Silence, func() { cancel(errSilent) })
		defer silence.Stop()
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: a.gotConn})
	resp, err := e.transport.stream(e.cfg.Fresh).RoundTrip(e.post(ctx, r, f))
	if err != nil {
		return e.broken(parent, ctx, a, what, err)
	}
	defer resp.Body.Close()
	a.reply.Status = resp.StatusCode
	if resp.StatusCode/100 != 2 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return e.status(what, resp.StatusCode, resp.Header, said)
	}
	e.settled.Store(true)

	s := &stream{ctx: parent, emit: emit, reply: &a.reply}
	body := io.Reader(resp.Body)
	switch coding := resp.Header.Get("Content-Encoding"); strings.ToLower(coding) {
	case "", "identity":
	case "gzip", "x-gzip":
		s.warn("the stream was compressed (gzip) though no compression was offered: gaps may be the compressor's")
		body = &gunzip{from: resp.Body}
	default:
		return e.fail(engines.Protocol, resp.StatusCode, nil, "%s: the stream has content encoding %q, which was not offered", what, coding)
	}
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
		s.kind = kind
	}

	buf := buffers.Get().(*[8 << 10]byte)
	defer buffers.Put(buf)
	var stay *time.Timer
	for {
		n, err := body.Read(buf[:])
		if n > 0 {
			if silence != nil {
				silence.Reset(e.cfg.Silence)
			}
			s.at = time.Duration(a.flow.read.Load())
			if bad := s.feed(buf[:n]); bad != nil && parent.Err() != nil {
				return e.broken(parent, ctx, a, what+", "+s.progress(), bad)
			} else if bad != nil {
				return e.fail(engines.Protocol, resp.StatusCode, bad, "%s: %v", what, bad)
			}
		}
		if err == io.EOF {
			a.keep = !resp.Close
			s.end()
			return e.verdict(s)
		}
		if err != nil {
			if s.over() {
				if context.Cause(ctx) == errStayed {
					s.warn("the stream stayed open after its last event")
				} else if parent.Err() == nil {
					s.warn("the connection broke after the last event")
				}
				return e.verdict(s)
			}
			return e.broken(parent, ctx, a, what+", "+s.progress(), err)
		}
		if stay == nil && s.over() {
			stay = time.AfterFunc(afterDone, func() { cancel(errStayed) })
			defer stay.Stop()
		}
	}
}

// post makes the HTTP request. It has no GetBody, so that net/http cannot send
// it a second time.
func (e *Engine) post(ctx context.Context, r *engines.Request, f *form) *http.Request {
	body := e.body(r, f)
	header := make(http.Header, len(e.header)+6)
	for name, values := range e.header {
		header[name] = values
	}
	header["Accept"] = acceptStream
	header["Accept-Encoding"] = acceptEncoding
	header["Content-Type"] = contentJSON
	header["User-Agent"] = userAgent
	if r.ID != "" {
		header["X-Request-Id"] = []string{r.ID}
	}
	return (&http.Request{
		Method: http.MethodPost, URL: e.route, Host: e.host(), Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
}

var (
	acceptStream   = []string{"text/event-stream, application/json"}
	acceptEncoding = []string{"identity"}
	contentJSON    = []string{"application/json"}
	userAgent      = []string{"openloop"}
)

// host is the Host header: the URL's unless Config.Header has one.
func (e *Engine) host() string {
	if h := e.header.Get("Host"); h != "" {
		return h
	}
	return e.route.Host
}

// gunzip decompresses a body that is read for the first time when there are
// bytes to read.
type gunzip struct {
	from io.Reader
	z    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.from)
		if err != nil {
			return 0, fmt.Errorf("gzip: %w", err)
		}
		g.z = z
	}
	return g.z.Read(p)
}
