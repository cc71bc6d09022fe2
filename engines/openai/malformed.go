package openai

import (
	"errors"
	"io"
	"regexp"
	"strings"
)

// breaches are in what net/http and this package say, in lower case, of an answer
// that is not of its protocol, or not in its coding.
var breaches = []string{
	"malformed", unasked, "gzip: ", "flate: ", "bad trailer key",
	"invalid byte in chunk", "http chunk length too large",
	"bad content-length", "invalid empty content-length", "multiple content-length headers",
	"unsupported transfer encoding", "too many transfer encodings",
}

// malformed reports an answer that is not of its protocol, or not in its coding.
func malformed(err error) bool {
	return hasAny(err.Error(), notHTTP2) || hasAny(err.Error(), breaches) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// bare is an error of net/http as the direct transport has it, so that a server
// gets the same failure whichever of the two asks it.
func bare(err error) error {
	const (
		whole   = "net/http: HTTP/1.x transport connection broken: "
		tooLong = "net/http: server response headers exceeded "
	)
	if strings.HasPrefix(err.Error(), whole) && errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	if strings.HasPrefix(err.Error(), tooLong) {
		return errHeadLong
	}
	if ours := bodyErrors[err.Error()]; ours != nil {
		return ours
	}
	return err
}

// bodyErrors are the errors of a chunked body by what net/http says of them, where
// that is not the same.
var bodyErrors = map[string]error{
	"chunked line ends with bare LF":                     errChunkBare,
	"invalid CR in chunked line":                         errChunkCR,
	"header line too long":                               errChunkLong,
	"empty hex number for chunk length":                  errChunkEmpty,
	"chunked encoding contains too much non-data":        errChunkExcess,
	"http: suspiciously long trailer after chunked body": errTrailerLong,
	"http: unexpected EOF reading trailer":               errUnended,
}

// cutOff is what net/http says where the end of the connection cuts an answer off
// in its head, of which it reads what there is as if that were all, or in its
// trailer, whose end it looks for.
var cutOff = regexp.MustCompile(`^malformed (?:HTTP response "HTTP/|HTTP status code "\d{0,2}"|MIME header)|^` + regexp.QuoteMeta(errTrailerLong.Error()))

// read is bare for what ended the reading of an answer.
func (a *attempt) read(err error) error {
	if err = bare(err); a.conn != nil && a.conn.broken.Load() && cutOff.MatchString(err.Error()) {
		return io.ErrUnexpectedEOF
	}
	return err
}
