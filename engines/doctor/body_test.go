package doctor_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
)

// held is a reader that gives nothing until it has all.
type held struct {
	from io.Reader
	all  *bytes.Reader
}

func (h *held) Read(p []byte) (int, error) {
	if h.all == nil {
		b, err := io.ReadAll(h.from)
		if err != nil {
			return 0, err
		}
		h.all = bytes.NewReader(b)
	}
	return h.all.Read(p)
}

// blocks gives so many bytes at a time, or what is left.
type blocks struct {
	from io.Reader
	size int
}

func (b blocks) Read(p []byte) (int, error) {
	n, err := io.ReadFull(b.from, p[:min(b.size, len(p))])
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// compressed is a body through gzip, which passes each event on, or not.
func compressed(r *http.Response, flush bool) io.Reader {
	from := r.Body
	r.Header.Set("Content-Encoding", "gzip")
	read, write := io.Pipe()
	go func() {
		z := gzip.NewWriter(write)
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			_, _ = z.Write(buf[:n])
			if flush {
				_ = z.Flush()
			}
			if err != nil {
				_ = z.Close()
				if err == io.EOF {
					err = nil
				}
				write.CloseWithError(err)
				return
			}
		}
	}()
	return read
}

// deaf goes on reading from the server when its client has gone.
type deaf struct{ http.RoundTripper }

func (d deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if err != nil {
		return nil, err
	}
	read, write := io.Pipe()
	from := resp.Body
	go func() {
		defer from.Close()
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			_, _ = write.Write(buf[:n]) // fails once the client has gone
			if err != nil {
				write.CloseWithError(err)
				return
			}
		}
	}()
	resp.Body = read
	return resp, nil
}

// replaced is a reader with a word in place of another of the same length.
type replaced struct {
	from     io.Reader
	old, new string
}

func (r *replaced) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte(r.old), []byte(r.new)))
	return n, err
}
