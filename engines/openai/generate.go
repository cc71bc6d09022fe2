package openai

import (
	"context"
	"errors"
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

// saidLimit bounds what is read of the body of a refusal.
const saidLimit = 64 << 10

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

// once sends a request in form f and reads its stream.
func (e *Engine) once(ctx context.Context, r *engines.Request, f *form, emit func(engines.Chunk)) (engines.Reply, error) {
	var a *attempt
	var err error
	if e.direct != nil {
		c := newCall(e, r.Stamp)
		a = &c.attempt
		err = e.trip(ctx, c, r, f, emit)
	} else {
		a = &attempt{flow: flow{clock: r.Stamp}}
		err = e.roundTrip(ctx, a, r, f, emit)
	}
	a.reply.Closed = time.Duration(a.flow.now())
	a.reply.Sent = time.Duration(a.flow.sent.Load())
	a.leave()
	if a.stay != nil && a.keep {
		a.stay.kept(ctx)
	}
	return a.reply, err
}

// roundTrip is an attempt by net/http.
func (e *Engine) roundTrip(parent context.Context, a *attempt, r *engines.Request, f *form, emit func(engines.Chunk)) error {
	what := "POST " + e.route.Path
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var silence *time.Timer
	if e.cfg.Silence > 0 {
		silence = time.AfterFunc(e.cfg.Silence, func() { cancel(errSilent) })
		defer silence.Stop()
	}
	b, err := e.encoded(r, f, false)
	if err != nil {
		return e.broken(parent, context.Cause(ctx), a, what, err)
	}
	body := &payload{whole: b}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: a.gotConn, WroteRequest: body.wrote})
	req := e.message(ctx, r)
	e.again(req, body)
	a.start, a.began = time.Duration(a.flow.now()), time.Now()
	resp, err := e.transport.stream(e.cfg.Fresh).RoundTrip(req)
	if err != nil {
		return e.broken(parent, context.Cause(ctx), a, what, a.read(err))
	}
	defer resp.Body.Close()
	body.answered()
	a.answered(resp)
	if resp.StatusCode/100 != 2 {
		var said []byte
		if resp.StatusCode != http.StatusSwitchingProtocols { // what follows that is no body
			said, _ = io.ReadAll(io.LimitReader(resp.Body, saidLimit))
		}
		return e.status(what, resp.StatusCode, resp.Header, said)
	}
	s := &stream{ctx: parent, emit: emit, reply: &a.reply}
	compressed, err := e.opened(s, resp)
	if err != nil {
		return err
	}
	from := io.Reader(resp.Body)
	if compressed {
		from = &gunzip{from: resp.Body}
	}

	buf := buffers.Get().(*[8 << 10]byte)
	defer buffers.Put(buf)
	var stay *time.Timer
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			if silence != nil {
				silence.Reset(e.cfg.Silence)
			}
			s.at = a.arrived()
			if bad := s.feed(buf[:n]); bad != nil {
				return e.unfit(parent, context.Cause(ctx), a, s, bad)
			}
		}
		if err == io.EOF {
			a.keep = !resp.Close
			s.end()
			return e.verdict(s)
		}
		if err != nil {
			return e.cut(parent, context.Cause(ctx), a, s, a.read(err))
		}
		if stay == nil && s.over() {
			stay = time.AfterFunc(afterDone, func() { cancel(errStayed) })
			defer stay.Stop()
		}
	}
}

// opened takes the head of a 2xx reply. It reports whether the body is
// compressed.
func (e *Engine) opened(s *stream, resp *http.Response) (compressed bool, err error) {
	e.settled.Store(true)
	switch coding := resp.Header.Get("Content-Encoding"); strings.ToLower(coding) {
	case "", "identity":
	case "gzip", "x-gzip":
		s.warn("the stream was compressed (gzip) though no compression was offered: gaps may be the compressor's")
		compressed = true
	default:
		return false, e.fail(engines.Protocol, resp.StatusCode, nil, "POST %s: the stream has content encoding %q, which was not offered", e.route.Path, coding)
	}
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
		s.kind = kind
	}
	return compressed, nil
}

// message is the HTTP request without its body.
func (e *Engine) message(ctx context.Context, r *engines.Request) *http.Request {
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
