package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// headLimit bounds the head of a response, with those of the interim responses
// before it.
const headLimit = 1 << 20

var errHeadLong = fmt.Errorf("malformed HTTP response: its head is longer than %d MiB", headLimit>>20)

// errSurplus is the end of a connection whose server sends what nobody asked
// for.
var errSurplus = errors.New("malformed HTTP response: bytes follow the end of it")

// exchange is one HTTP/1.1 response as its bytes come. It needs no goroutine
// and never waits: whoever has bytes hands them over. Heads are parsed by
// net/http; framing of the body is ours, because net/http's holds the end of
// an event back until a whole chunk has come, and costs a goroutine's wake.
type exchange struct {
	to receiver

	place   place
	begun   []byte // a head that is not complete
	heads   int    // bytes of the heads before it
	left    int64  // bytes to come of a body of known length
	chunked chunks
	// closes: the server will close the connection, or its end is the end of
	// the body.
	closes bool
}

// receiver takes a response: its head, without a body, and then the bytes of
// the body. An error of either ends the exchange.
type receiver interface {
	head(*http.Response) error
	body([]byte) error
}

// place is where in a response an exchange is.
type place uint8

const (
	inHead place = iota
	inChunks
	inLength
	untilEOF
	complete
)

// take consumes b and returns what follows the response, if it is complete.
func (x *exchange) take(b []byte) (rest []byte, err error) {
	for len(b) > 0 {
		switch x.place {
		case inHead:
			if b, err = x.takeHead(b); err != nil {
				return nil, err
			}
		case inChunks:
			if b, err = x.chunked.take(b, x.to.body); err != nil {
				return nil, err
			}
			if x.chunked.place == chunkDone {
				x.place = complete
			}
		case inLength:
			part := b[:min(int64(len(b)), x.left)]
			b = b[len(part):]
			if x.left -= int64(len(part)); x.left == 0 {
				x.place = complete
			}
			if err := x.to.body(part); err != nil {
				return nil, err
			}
		case untilEOF:
			return nil, x.to.body(b)
		case complete:
			return b, nil
		}
	}
	return nil, nil
}

// foreign reports that what came is not HTTP, and says more than how it ended.
func (x *exchange) foreign() bool {
	return x.place == inHead && len(x.begun) >= 5 && !bytes.HasPrefix(x.begun, []byte("HTTP/"))
}

// eof takes the end of the connection: nil when that is the end of the body.
func (x *exchange) eof() error {
	switch {
	case x.place == untilEOF:
		x.place = complete
		return nil
	case x.place == inHead && len(x.begun) == 0:
		return io.EOF
	case x.place == inHead && !bytes.HasPrefix(x.begun, []byte("HTTP/")):
		if _, err := x.parse(append(x.begun, '\n')); err != nil {
			return err
		}
	}
	return io.ErrUnexpectedEOF
}

// takeHead consumes b up to the end of a head.
func (x *exchange) takeHead(b []byte) ([]byte, error) {
	before := len(x.begun)
	x.begun = append(x.begun, b...)
	end := headEnd(x.begun, max(before-3, 0))
	if end < 0 {
		// A server that speaks something else may never end a head.
		if line := bytes.IndexByte(x.begun, '\n'); line >= 0 && !bytes.HasPrefix(x.begun, []byte("HTTP/")) {
			_, err := x.parse(x.begun[:line+1])
			return nil, err
		}
		if x.heads+len(x.begun) > headLimit {
			return nil, errHeadLong
		}
		return nil, nil
	}
	if x.heads += end; x.heads > headLimit {
		return nil, errHeadLong
	}
	resp, err := x.parse(x.begun[:end])
	if err != nil {
		return nil, err
	}
	rest := b[end-before:]
	x.begun = x.begun[:0]
	if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
		return rest, nil // an interim response: the next head is the one
	}
	x.closes = resp.Close
	switch n := resp.ContentLength; {
	case resp.StatusCode == http.StatusSwitchingProtocols:
		x.place, x.closes = complete, true
	case len(resp.TransferEncoding) > 0:
		x.place = inChunks
	case n > 0:
		x.place, x.left = inLength, n
	case n == 0:
		x.place = complete
	default:
		x.place, x.closes = untilEOF, true
	}
	return rest, x.to.head(resp)
}

// parse is net/http's reading of a head.
func (x *exchange) parse(head []byte) (*http.Response, error) {
	resp, err := http.ReadResponse(bufio.NewReaderSize(bytes.NewReader(head), len(head)), post)
	if err != nil {
		return nil, err
	}
	resp.Body = nil
	return resp, nil
}

// post is the request that all responses are read as the answer to.
var post = &http.Request{Method: http.MethodPost}

// headEnd is the length of a head with its blank line, -1 when that has not
// come; it looks from a place on. Lines may end with a bare LF.
func headEnd(b []byte, from int) int {
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return -1
		}
		from += i + 1
		switch {
		case from < len(b) && b[from] == '\n':
			return from + 1
		case from+1 < len(b) && b[from] == '\r' && b[from+1] == '\n':
			return from + 2
		}
	}
}
