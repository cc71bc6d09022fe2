package nullserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"strconv"
	"strings"
)

// ask is what the server needs of a request.
type ask struct {
	method, path, id string
	// rate is that of the path, -1 where it has none.
	rate float64
	// tokens is 0 where the body does not say.
	tokens int
	// prompt is the number of token ids; 0 where there are none.
	prompt int
	// stream is false where the body says nothing else; usage and running are
	// include_usage and continuous_usage_stats.
	stream, usage, running bool
	close                  bool
	// arrival is that of Request.
	arrival int64
}

// maxBody bounds a request's body.
const maxBody = 16 << 20

// readAsk reads one request, and no more of it than is needed. It is to HTTP/1.1
// what clients send, and no more than that.
func readAsk(in *bufio.Reader) (a ask, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return a, err
	}
	words := bytes.Fields(line)
	if len(words) != 3 {
		return a, fmt.Errorf("read a request: %q is no request line", line)
	}
	a.method = string(words[0])
	a.path, a.rate = cutRate(string(words[1]))
	length, chunked := 0, false
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		if len(key) == 0 {
			break
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(key, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > maxBody {
				return a, fmt.Errorf("read a request: a body of %q bytes", value)
			}
		case bytes.EqualFold(key, []byte("transfer-encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(key, []byte("x-request-id")):
			a.id = string(value)
		case bytes.EqualFold(key, []byte("connection")):
			a.close = bytes.EqualFold(value, []byte("close"))
		}
	}
	var body []byte
	if chunked {
		body, err = readChunked(in)
	} else if length <= in.Size() {
		// In place: it is of no use once the request has been understood.
		if body, err = in.Peek(length); err == nil {
			_, err = in.Discard(length)
		}
	} else {
		body = make([]byte, length)
		_, err = io.ReadFull(in, body)
	}
	if err != nil {
		return a, err
	}
	a.understand(body)
	return a, nil
}

// readChunked reads a body in chunks, its trailer included.
func readChunked(in *bufio.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(httputil.NewChunkedReader(in), maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, errors.New("read a request: its body is too long")
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return body, err
		}
	}
}

// cutRate takes the rate off a path; -1 is none.
func cutRate(path string) (string, float64) {
	first, rest, found := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	rate, err := strconv.ParseFloat(first, 64)
	if !found || err != nil || !(rate >= 0 && rate <= maxRate) {
		return path, -1
	}
	return "/" + rest, rate
}

// understand looks for what the server needs of a JSON body. A key with its
// quotes and colon is in no string, where quotes are escaped.
func (a *ask) understand(body []byte) {
	for _, key := range []string{`"max_tokens":`, `"max_completion_tokens":`} {
		a.tokens = max(a.tokens, leadingInt(value(body, key)))
	}
	is := func(key string) bool { return bytes.HasPrefix(value(body, key), []byte("true")) }
	a.stream, a.usage, a.running = is(`"stream":`), is(`"include_usage":`), is(`"continuous_usage_stats":`)
	if ids := value(body, `"prompt":`); len(ids) > 1 && ids[0] == '[' && '0' <= ids[1] && ids[1] <= '9' {
		list, _, _ := bytes.Cut(ids, []byte("]"))
		a.prompt = bytes.Count(list, []byte(",")) + 1
	}
}

// value is what follows a key; nil where it is not there.
func value(body []byte, key string) []byte {
	_, after, _ := bytes.Cut(body, []byte(key))
	return bytes.TrimLeft(after, " \t\r\n")
}

// leadingInt is the number that b begins with, at most maxTokens; 0 where there
// is none.
func leadingInt(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = min(10*n+int(c-'0'), maxTokens)
	}
	return n
}
