package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
)

const (
	// answerLimit bounds the body of an answer.
	answerLimit = 16 << 20
	// answerTimeout is the default of Config.Timeout.
	answerTimeout = 10 * time.Second
)

// Answer is what came back of a request that is not a generation.
type Answer struct {
	// Status is the HTTP status, Header the reply's, and Body all of its body,
	// at most 16 MiB; where the status is not 2xx, without the engine's secrets.
	Status int
	Header http.Header
	Body   []byte
	// by is who asked, and knows secrets that a 2xx body may repeat.
	by *Engine
}

// Quote is what came back, short enough for a message and without the engine's
// secrets: the status, and the body's error message, an HTML page's title or the
// body's beginning.
func (a *Answer) Quote() string {
	said := serverWords(a.Body)
	if said == "" {
		said = "empty body"
	}
	if a.by != nil {
		said = a.by.Redact(said)
	}
	return fmt.Sprintf("status %d, %s", a.Status, said)
}

// Do sends a request to a path below the server's root, as in
// "/flush_cache?timeout=5", with the same headers and connections as
// Generate. body is marshalled to JSON; nil sends none. Any status is an
// answer; err, an *engines.Error, is for a server that could not be asked.
func (e *Engine) Do(ctx context.Context, method, path string, body any) (*Answer, error) {
	return e.do(ctx, method, path, body, nil)
}

func (e *Engine) do(parent context.Context, method, path string, body any, header http.Header) (*Answer, error) {
	ctx, cancel := parent, context.CancelFunc(func() {})
	if limit := e.cfg.Timeout; limit >= 0 {
		if limit == 0 {
			limit = answerTimeout
		}
		ctx, cancel = context.WithTimeout(parent, limit)
	}
	defer cancel()
	what := method + " " + path
	a := &attempt{}
	var at stage
	trace := at.trace()
	trace.GotConn = func(info httptrace.GotConnInfo) { a.got, a.kept = time.Now(), info.Reused }
	ctx = httptrace.WithClientTrace(ctx, trace)
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, e.fail(engines.Misuse, 0, err, "%s: the body is not JSON: %v", what, err)
		}
		if content = bytes.NewReader(b); vouched(e.header) {
			content = io.NopCloser(content) // hides GetBody, as in again
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, e.root+"/"+strings.TrimLeft(path, "/"), content)
	if err != nil {
		return nil, e.fail(engines.Misuse, 0, nil, "%s: not a method and path", what)
	}
	if content != nil {
		req.Header["Content-Type"] = contentJSON
	}
	for _, h := range []http.Header{e.header, header} {
		for name, values := range h {
			req.Header[name] = values
		}
	}
	req.Header["Accept-Encoding"] = acceptEncoding
	req.Header["User-Agent"] = userAgent
	req.Host = e.host()
	resp, err := e.transport.RoundTrip(req)
	if err != nil {
		return nil, e.unanswered(parent, ctx, a, &at, what, err)
	}
	defer resp.Body.Close()
	a.reply.Status = resp.StatusCode
	b, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	if err != nil {
		return nil, e.unanswered(parent, ctx, a, &at, what, err)
	}
	if len(b) > answerLimit {
		return nil, e.fail(engines.Protocol, resp.StatusCode, nil, "%s: the answer is longer than %d MiB", what, answerLimit>>20)
	}
	if resp.StatusCode/100 != 2 { // what servers say of a key may repeat it
		b = []byte(e.Redact(string(b)))
	}
	return &Answer{Status: resp.StatusCode, Header: resp.Header, Body: b, by: e}, nil
}

// JSON is Do that demands a 2xx status and unmarshals the body into `into`
// (nil ignores it). Any other end is an *engines.Error.
func (e *Engine) JSON(ctx context.Context, method, path string, body, into any) error {
	answer, err := e.Do(ctx, method, path, body)
	if err != nil {
		return err
	}
	what := method + " " + path
	if answer.Status/100 != 2 {
		return e.status(what, answer.Status, answer.Header, answer.Body)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		said := serverWords(answer.Body)
		if said == "" {
			said = "an empty body"
		}
		return e.fail(engines.Protocol, answer.Status, err, "%s: no JSON came but %s: is this the root of the server's API?", what, said)
	}
	return nil
}

// unanswered is the failure of a request of Do.
func (e *Engine) unanswered(parent, ctx context.Context, a *attempt, at *stage, what string, err error) error {
	if parent.Err() == nil && ctx.Err() != nil {
		limit := e.cfg.Timeout
		if limit == 0 {
			limit = answerTimeout
		}
		if a.got.IsZero() {
			return e.fail(engines.Unreachable, 0, ctx.Err(), "%s: no connection within %v: %s%s",
				what, limit, e.stuck(at), e.through(engines.Unreachable, ctx.Err()))
		}
		return e.fail(engines.Silent, a.reply.Status, ctx.Err(), "%s: no answer within %v: the server takes connections and hangs: look into its log%s",
			what, limit, e.through(engines.Silent, ctx.Err()))
	}
	return e.broken(parent, context.Cause(ctx), a, what, err)
}
