package openai

import (
	"compress/gzip"
	"fmt"
	"io"
	"iter"
)

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

// inflate is gunzip for a body whose bytes are handed over as they come. The
// decompressor can only pull, so it runs as a coroutine that stops where it
// wants bytes that have not come.
type inflate struct {
	feed func([]byte) error
	in   []byte
	last bool // no more will come
	err  error
	next func() (struct{}, bool)
	stop func()
	want func(struct{}) bool
}

func newInflate(feed func([]byte) error) *inflate {
	f := &inflate{feed: feed}
	f.next, f.stop = iter.Pull(f.run)
	return f
}

// run is the coroutine: it yields where it wants more.
func (f *inflate) run(yield func(struct{}) bool) {
	f.want = yield
	buf := make([]byte, 8<<10)
	for from := (&gunzip{from: f}); ; {
		n, err := from.Read(buf)
		if n > 0 && f.err == nil {
			f.err = f.feed(buf[:n])
		}
		if err == io.EOF || f.err != nil {
			return
		}
		if err != nil {
			f.err = err
			return
		}
	}
}

// Read is how the decompressor pulls.
func (f *inflate) Read(p []byte) (int, error) {
	for len(f.in) == 0 {
		if f.last || !f.want(struct{}{}) {
			return 0, io.EOF
		}
	}
	n := copy(p, f.in)
	f.in = f.in[n:]
	return n, nil
}

// take decompresses what it can of b, which is the next of the body.
func (f *inflate) take(b []byte) error {
	f.in = b
	f.next()
	f.in = nil
	return f.err
}

// end takes the end of the body.
func (f *inflate) end() error {
	f.last = true
	f.next()
	return f.err
}

// close ends the coroutine, which feeds nothing more.
func (f *inflate) close() {
	if f.err == nil {
		f.err = io.ErrClosedPipe
	}
	f.stop()
}
