package openai

import (
	"bytes"
	"context"

	"github.com/openloop-go/openloop/engines"
)

// prepared is a request as it goes out, made before it is due. It is of use to
// this engine, in this form, on a connection of this kind.
type prepared struct {
	engine *Engine
	form   *form
	fresh  bool
	// out is all that the direct transport writes; for net/http it is the body.
	out []byte
}

// Prepare implements engines.Preparer: it encodes the request, in the form in
// which requests are sent now. One that cannot be sent is left to Generate,
// which says why.
func (e *Engine) Prepare(r *engines.Request) {
	if e.check(r) != nil {
		return
	}
	f, fresh := e.form.Load(), e.fresh()
	if out, err := e.encode(r, f, fresh); err == nil {
		r.Prepared = &prepared{e, f, fresh, out}
	}
}

// encoded is the request as it goes out, prepared or made now: what was
// prepared for another engine is of no use, nor is it once the server was found
// to want requests otherwise.
func (e *Engine) encoded(r *engines.Request, f *form, fresh bool) ([]byte, error) {
	p, _ := r.Prepared.(*prepared)
	if r.Prepared != nil {
		r.Prepared = nil
	}
	if p != nil && p.engine == e && p.form == f && p.fresh == fresh {
		return p.out, nil
	}
	return e.encode(r, f, fresh)
}

// encode makes a request in a form: its head and body for the direct transport,
// its body alone for net/http.
func (e *Engine) encode(r *engines.Request, f *form, fresh bool) ([]byte, error) {
	body := e.body(r, f)
	if e.direct == nil {
		return body, nil
	}
	req := e.post(context.Background(), r, body)
	req.Close = fresh
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
