package openai

import (
	"bytes"
	"io"
	"net/http/httptrace"
	"sync"
)

// payload is the body of a request on its way through net/http, which holds on to
// a request for as long as its answer is read. Prompts are long and streams are
// many: what was sent is let go once nobody can want it again.
type payload struct {
	mu      sync.Mutex
	whole   []byte
	readers []*bytes.Reader
	sent    bool // by its last reader
	heard   bool // the answer has begun, so it is not sent anew
}

// reader reads it from the beginning; net/http asks for a second one where it
// sends the request anew. (It writes the head together with a body that it knows
// to be in memory.)
func (p *payload) reader() (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := bytes.NewReader(p.whole)
	p.readers, p.sent = append(p.readers, r), false
	return io.NopCloser(r), nil
}

// wrote is when net/http has read all of it, or could not write.
func (p *payload) wrote(info httptrace.WroteRequestInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = info.Err == nil
	p.let()
}

// answered is when the head of the answer has come.
func (p *payload) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = true
	p.let()
}

// let lets go of it. A server may answer before it has read the request.
func (p *payload) let() {
	if !p.sent || !p.heard {
		return
	}
	for _, r := range p.readers {
		r.Reset(nil)
	}
	p.whole, p.readers = nil, nil
}
