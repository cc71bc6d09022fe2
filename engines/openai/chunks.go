package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/textproto"
)

// The errors of a chunked body (those of net/http are made them: see bare).
// errUnended has no counterpart there: net/http says "unexpected EOF" and so does
// it.
var (
	errChunkBare   = errors.New("malformed chunked encoding: chunked line ends with bare LF")
	errChunkCR     = errors.New("malformed chunked encoding: invalid CR in chunked line")
	errChunkLong   = errors.New("malformed chunked encoding: header line too long")
	errChunkEmpty  = errors.New("malformed chunked encoding: empty hex number for chunk length")
	errChunkHex    = errors.New("invalid byte in chunk length")
	errChunkSize   = errors.New("http chunk length too large")
	errChunkEnd    = errors.New("malformed chunked encoding")
	errChunkExcess = errors.New("malformed chunked encoding: too much non-data")
	errTrailerLong = errors.New("malformed chunked encoding: suspiciously long trailer")
	errUnended     = io.ErrUnexpectedEOF
)

const (
	// chunkLineLimit bounds a chunk's line of size and extensions, and
	// trailerLimit all of the trailer, as in net/http.
	chunkLineLimit = 4096
	trailerLimit   = 4096
)

// chunks decodes a chunked body (RFC 9112, section 7.1) as its bytes come:
// it hands on at once what it is given, however the body is cut into reads.
// It takes what net/http takes.
type chunks struct {
	place  chunkPlace
	line   []byte // a line begun in an earlier read
	left   uint64 // bytes to come of this chunk
	excess int64  // what was not data, beyond a fair share
	tail   []byte // the trailer so far
}

// chunkPlace is what comes next.
type chunkPlace uint8

const (
	chunkSize chunkPlace = iota
	chunkData
	chunkCR // of the end of a chunk
	chunkLF
	chunkTrailer
	chunkDone
)

// take consumes b up to the end of the body and hands the data to body. It
// returns what follows the body, once place is chunkDone.
func (d *chunks) take(b []byte, body func([]byte) error) ([]byte, error) {
	for len(b) > 0 {
		switch d.place {
		case chunkData:
			part := b
			if uint64(len(part)) > d.left {
				part = part[:d.left]
			}
			b = b[len(part):]
			if d.left -= uint64(len(part)); d.left == 0 {
				d.place = chunkCR
			}
			if err := body(part); err != nil {
				return nil, err
			}
		case chunkCR:
			if b[0] != '\r' {
				return nil, errChunkEnd
			}
			b, d.place = b[1:], chunkLF
		case chunkLF:
			if b[0] != '\n' {
				return nil, errChunkEnd
			}
			b, d.place = b[1:], chunkSize
		case chunkSize, chunkTrailer:
			line, rest, err := d.upToLF(b)
			if err != nil {
				return nil, err
			}
			if b = rest; line == nil {
				return nil, nil
			}
			if d.place == chunkTrailer {
				err = d.trailer(line)
			} else {
				err = d.size(line)
			}
			if err != nil {
				return nil, err
			}
			d.line = d.line[:0]
		case chunkDone:
			return b, nil
		}
	}
	return nil, nil
}

// upToLF is the next line with its end, nil while that has not come.
func (d *chunks) upToLF(b []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		d.line = append(d.line, b...)
	} else if line, rest = b[:i+1], b[i+1:]; len(d.line) > 0 {
		d.line = append(d.line, line...)
		line = d.line
	}
	if n := max(len(d.line), len(line)); d.place == chunkSize && n > chunkLineLimit {
		return nil, nil, errChunkLong
	} else if d.place == chunkTrailer && len(d.tail)+n > trailerLimit {
		return nil, nil, errTrailerLong
	}
	return line, rest, nil
}

// size takes the line that begins a chunk.
func (d *chunks) size(line []byte) error {
	switch cr := bytes.IndexByte(line, '\r'); {
	case cr < 0:
		return errChunkBare
	case cr != len(line)-2:
		return errChunkCR
	}
	d.excess += int64(len(line))
	line = bytes.TrimRight(line[:len(line)-2], " \t")
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	n, err := parseHex(line)
	if err != nil {
		return err
	}
	// As net/http: 16 bytes a chunk and twice its data are fair.
	d.excess = max(d.excess-16-2*int64(n), 0)
	if d.excess > 16<<10 {
		return errChunkExcess
	}
	if d.left, d.place = n, chunkData; n == 0 {
		d.place = chunkTrailer
	}
	return nil
}

// trailer takes a line of the trailer, which ends with an empty one. Nobody wants
// to know what it says, but it must be one.
func (d *chunks) trailer(line []byte) error {
	d.tail = append(d.tail, line...)
	switch {
	case len(d.tail) == 2 && d.tail[0] == '\r':
	case bytes.HasSuffix(d.tail, []byte("\r\n\r\n")):
		if _, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(d.tail))).ReadMIMEHeader(); err != nil {
			return err
		}
	default:
		return nil
	}
	d.place = chunkDone
	return nil
}

// parseHex reads a chunk's length.
func parseHex(b []byte) (n uint64, err error) {
	if len(b) == 0 {
		return 0, errChunkEmpty
	}
	for i, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, errChunkHex
		}
		if i == 16 {
			return 0, errChunkSize
		}
		n = n<<4 | uint64(c)
	}
	return n, nil
}
