package openai

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/openloop-go/openloop/engines"
)

// prepared is a request as it goes out, made before it is due. It is of use to
// this engine, for that request, in this form, on a connection of this kind.
type prepared struct {
	engine  *Engine
	request engines.Request
	form    *form
	fresh   bool
	// out is all that the direct transport writes; for net/http it is the body.
	// Who sends it takes it: a stream does not keep what was sent.
	out atomic.Pointer[[]byte]
}

// Format keeps what was prepared, which may hold a key, from being printed.
func (p *prepared) Format(f fmt.State, _ rune) { io.WriteString(f, "a prepared request") }

// Prepare implements engines.Preparer: it encodes the request, in the form in
// which requests are sent now. One that cannot be sent is left to Generate,
// which says why.
func (e *Engine) Prepare(r *engines.Request) {
	if e.check(r) != nil {
		return
	}
	p := &prepared{engine: e, request: *r, form: e.form.Load(), fresh: e.fresh()}
	p.request.Prepared = nil // else it would keep what was prepared before
	out, err := e.encode(r, p.form, p.fresh)
	if err != nil {
		return
	}
	p.out.Store(&out)
	r.Prepared = p
}

// encoded is the request as it goes out, prepared or made now: what was
// prepared is of no use once it was sent, on another engine, for a request that
// has been changed since, or where the server was found to want requests
// otherwise.
func (e *Engine) encoded(r *engines.Request, f *form, fresh bool) ([]byte, error) {
	if p, ok := r.Prepared.(*prepared); ok && p.engine == e && p.form == f && p.fresh == fresh && alike(&p.request, r) {
		if out := p.out.Swap(nil); out != nil {
			return *out, nil
		}
	}
	return e.encode(r, f, fresh)
}

// alike reports that two requests are sent as the same bytes, unless token ids
// were changed where they are.
func alike(a, b *engines.Request) bool {
	return a.ID == b.ID && a.Text == b.Text && len(a.Tokens) == len(b.Tokens) && unsafe.SliceData(a.Tokens) == unsafe.SliceData(b.Tokens) &&
		a.MaxTokens == b.MaxTokens && a.MinTokens == b.MinTokens && a.IgnoreEOS == b.IgnoreEOS &&
		a.Temperature == b.Temperature && a.CacheSalt == b.CacheSalt
}

// encode makes a request in a form: its head and body for the direct transport,
// its body alone for net/http.
func (e *Engine) encode(r *engines.Request, f *form, fresh bool) ([]byte, error) {
	body := e.body(r, f)
	if e.direct == nil {
		return body, nil
	}
	req := e.message(context.Background(), r)
	req.Body, req.ContentLength, req.Close = io.NopCloser(bytes.NewReader(body)), int64(len(body)), fresh
	var out bytes.Buffer
	out.Grow(len(body) + headRoom)
	err := req.Write(&out)
	return out.Bytes(), err
}

// headRoom is more than the heads of most requests take.
const headRoom = 512

// fresh reports that the direct transport gives a request a connection of its
// own.
func (e *Engine) fresh() bool {
	return e.direct != nil && (e.cfg.Fresh || e.direct.habit.closes.Load())
}
