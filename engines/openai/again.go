package openai

import "net/http"

// again gives a request a body that net/http can have a second time.
//
// Over HTTP/2 it needs that where the connection that it chose has no stream
// left by then, or the server gives the request back unbegun (REFUSED_STREAM,
// GOAWAY). It may wait a second before it tries again, so the reply says so.
//
// Over HTTP/1.1 it then sends a request anew where nothing was written on a
// connection that had been kept, and the reply says so too. It would also send
// one anew of which something was written if a header vouches for that, so that a
// request with such a header is sent once.
func (e *Engine) again(req *http.Request, body *payload) {
	req.ContentLength = int64(len(body.whole))
	req.Body, _ = body.reader()
	if e.cfg.HTTP2 || !vouched(req.Header) {
		req.GetBody = body.reader
	}
}

// vouched reports a header for which net/http takes a POST for one that may be
// sent twice: that it is there counts, not whether it has a value.
func vouched(h http.Header) bool {
	_, one := h["Idempotency-Key"]
	_, other := h["X-Idempotency-Key"]
	return one || other
}
