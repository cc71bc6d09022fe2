package nullserver

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReadAsk(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       ask
		err        bool
	}{
		{"a generation", "POST /50/v1/completions HTTP/1.1\r\nHost: a\r\nX-Request-Id: r7\r\nContent-Length: 33\r\n\r\n" + `{"prompt":[1],"max_tokens":  256}`,
			ask{method: "POST", path: "/v1/completions", id: "r7", rate: 50, tokens: 256, prompt: 1}, false},
		{"a question", "GET /journal HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", ask{method: "GET", path: "/journal", rate: -1, close: true}, false},
		{"chunks", "POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"max_to\r\n9\r\nkens\": 3}\r\n0\r\n\r\n",
			ask{method: "POST", path: "/v1/completions", rate: -1, tokens: 3}, false},
		{"a body longer than the buffer", "POST / HTTP/1.1\r\nContent-Length: 5018\r\n\r\n" + strings.Repeat(" ", 5000) + `{"max_tokens":1234`,
			ask{method: "POST", path: "/", rate: -1, tokens: 1234}, false},
		{"a string that looks like a key", "POST / HTTP/1.1\r\nContent-Length: 32\r\n\r\n" + `{"prompt":"\"max_tokens\":12345"`, ask{method: "POST", path: "/", rate: -1}, false},
		{"no tokens", "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", ask{method: "POST", path: "/", rate: -1}, false},
		{"a rate that is none", "GET /inf/x HTTP/1.1\r\n\r\n", ask{method: "GET", path: "/inf/x", rate: -1}, false},
		{"cut short", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}", ask{}, true},
		{"a length that is none", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n{}", ask{}, true},
		{"no request", "hello\r\n\r\n", ask{}, true},
		{"nothing", "", ask{}, true},
	} {
		got, err := readAsk(bufio.NewReaderSize(strings.NewReader(c.text), 4<<10))
		assert.Equal(t, c.err, err != nil, "%s: %v", c.name, err)
		if !c.err {
			assert.Equal(t, c.want, got, c.name)
		}
	}
}

// Whatever comes, reading ends, asks for no absurd work, and leaves what comes
// after the request.
func FuzzReadAsk(f *testing.F) {
	f.Add("POST /50/v1/completions HTTP/1.1\r\nContent-Length: 20\r\n\r\n{\"max_tokens\":12345}")
	f.Add("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		const next = "GET /next HTTP/1.1\r\n\r\n"
		in := bufio.NewReader(strings.NewReader(text))
		a, err := readAsk(in)
		if err != nil {
			return
		}
		if a.tokens < 0 || a.tokens > maxTokens || a.rate > maxRate {
			t.Errorf("%d tokens at %v/s", a.tokens, a.rate)
		}
		if in.Buffered() == 0 && len(text) < in.Size() {
			in = bufio.NewReader(strings.NewReader(text + next))
			again, err := readAsk(in)
			if err != nil || again != a {
				t.Fatalf("%+v, %v: with a request behind it, which is %+v without", again, err, a)
			}
			if b, err := readAsk(in); err != nil || b.path != "/next" {
				t.Errorf("the request behind is %+v, %v", b, err)
			}
		}
	})
}
