package openai

import (
	"bytes"
	"io"
	"net/http"
)

// moved is what a reply says of a request for which its first connection had no
// stream left.
const moved = "HTTP/2: the connection had no stream left for the request, which was sent on another, or again"

// again lets net/http have the body of an HTTP/2 request a second time, which
// it needs where the connection that it chose has no stream left by then, or
// the server gives the request back unbegun (REFUSED_STREAM, GOAWAY). It may
// wait a second before it tries again, so the reply says so.
func (e *Engine) again(req *http.Request, a *attempt) *http.Request {
	if !e.cfg.HTTP2 {
		return req
	}
	all, _ := io.ReadAll(req.Body) // of a buffer
	body := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(all)) }
	req.Body = body()
	req.GetBody = func() (io.ReadCloser, error) {
		a.reply.Warnings = append(a.reply.Warnings, moved)
		return body(), nil
	}
	return req
}
