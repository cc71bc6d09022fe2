package openai

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
)

// again lets net/http have the body of an HTTP/2 request a second time. It
// needs it where the connection that it chose has no stream left by then; a
// server may also say that it has not begun a request (REFUSED_STREAM, GOAWAY),
// which is sent again then, and the reply says so.
func (e *Engine) again(req *http.Request, a *attempt) *http.Request {
	if !e.cfg.HTTP2 {
		return req
	}
	all, _ := io.ReadAll(req.Body) // of a buffer
	var read atomic.Int64
	body := func() io.ReadCloser { return io.NopCloser(io.TeeReader(bytes.NewReader(all), count{&read})) }
	req.Body = body()
	req.GetBody = func() (io.ReadCloser, error) {
		if read.Load() > 0 {
			a.reply.Warnings = append(a.reply.Warnings, "the server gave the request back unbegun (HTTP/2), and it was sent again")
		}
		return body(), nil
	}
	return req
}

// count counts what is written to it.
type count struct{ n *atomic.Int64 }

func (c count) Write(p []byte) (int, error) { c.n.Add(int64(len(p))); return len(p), nil }
