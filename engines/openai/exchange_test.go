package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seen is what an exchange made of a response.
type seen struct {
	status int
	body   string
	rest   string
	place  place
	err    error
}

// taken is a receiver of closures.
type taken struct {
	onHead func(*http.Response)
	onBody func([]byte)
}

func (t taken) head(r *http.Response) error { t.onHead(r); return nil }
func (t taken) body(b []byte) error         { t.onBody(b); return nil }

// exchanged gives an exchange its bytes in parts of a size; 0 is one part.
func exchanged(response string, size int, eof bool) seen {
	var s seen
	var body strings.Builder
	x := exchange{to: taken{
		func(r *http.Response) { s.status = r.StatusCode },
		func(b []byte) { body.Write(b) },
	}}
	in := []byte(response)
	for len(in) > 0 && s.err == nil && x.place != complete {
		part := in
		if size > 0 {
			part = in[:min(size, len(in))]
		}
		in = in[len(part):]
		var rest []byte
		rest, s.err = x.take(bytes.Clone(part))
		s.rest += string(rest)
	}
	s.rest += string(in)
	if eof && s.err == nil && x.place != complete {
		s.err = x.eof()
	}
	s.body, s.place = body.String(), x.place
	return s
}

func TestResponsesInAnyParts(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct {
		what, response string
		status         int
		body, rest     string
		err            string
	}{
		{"of known length", ok + "Content-Length: 5\r\n\r\nhello", 200, "hello", "", ""},
		{"of no length", ok + "Content-Length: 0\r\n\r\n", 200, "", "", ""},
		{"up to the end of the connection", ok + "\r\nhello", 200, "hello", "", ""},
		{"in chunks", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n", 200, "hello!", "", ""},
		{"in chunks, with a trailer", ok + "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\nA: b\r\n\r\n", 200, "hello", "", ""},
		{"of HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", 200, "hello", "", ""},
		{"with bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", 200, "hello", "", ""},
		{"after interim ones", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "Content-Length: 1\r\n\r\na", 200, "a", "", ""},
		{"without a body by its status", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", "", ""},
		{"of another protocol, switched to", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", 101, "", "", ""},
		{"with more after it", ok + "Content-Length: 5\r\n\r\nhelloHTTP", 200, "hello", "HTTP", ""},
		{"with more after its chunks", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP", 200, "", "HTTP", ""},

		{"cut off in the length", ok + "Content-Length: 6\r\n\r\nhello", 200, "hello", "", "unexpected EOF"},
		{"cut off in a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n6\r\nhello", 200, "hello", "", "unexpected EOF"},
		{"cut off between chunks", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 200, "hello", "", "unexpected EOF"},
		{"cut off in the head", "HTTP/1.1 200 OK\r\nContent-", 0, "", "", "unexpected EOF"},
		{"that never begins", "", 0, "", "", "EOF"},
		{"that is none", "SSH-2.0-OpenSSH_9.2\r\n", 0, "", "", `malformed HTTP response "SSH-2.0-OpenSSH_9.2"`},
		{"that is none and has no end", "220 mail.example ESMTP", 0, "", "", `malformed HTTP status code "mail.example"`},
		{"with a status that is none", "HTTP/1.1 abc\r\n\r\n", 0, "", "", `malformed HTTP status code "abc"`},
		{"with a header that is none", ok + "no colon\r\n\r\n", 0, "", "", `malformed MIME header: missing colon: "no colon"`},
		{"with a chunk's length that is none", ok + "Transfer-Encoding: chunked\r\n\r\nz\r\n", 200, "", "", "invalid byte in chunk length"},
		{"with a chunk's length that is missing", ok + "Transfer-Encoding: chunked\r\n\r\n\r\n", 200, "", "", "malformed chunked encoding: empty hex number for chunk length"},
		{"with a chunk's length that is too large", ok + "Transfer-Encoding: chunked\r\n\r\n11111111111111111\r\n", 200, "", "", "http chunk length too large"},
		{"with a chunk that is longer than it says", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 200, "a", "", "malformed chunked encoding"},
		{"with a bare line feed after a length", ok + "Transfer-Encoding: chunked\r\n\r\n1\na\r\n", 200, "", "", "malformed chunked encoding: chunked line ends with bare LF"},
		{"with a return in a length", ok + "Transfer-Encoding: chunked\r\n\r\n1\ra\r\n", 200, "", "", "malformed chunked encoding: invalid CR in chunked line"},
		{"with a length and no end", ok + "Transfer-Encoding: chunked\r\n\r\n1;" + long, 200, "", "", "malformed chunked encoding: header line too long"},
		{"with a trailer and no end", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + long, 200, "", "", "malformed chunked encoding: suspiciously long trailer"},
		{"with a trailer that is none", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\n", 200, "", "", `malformed MIME header: missing colon: "no colon"`},
		{"with a trailer that has bare line feeds, and no end", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\n", 200, "", "", "unexpected EOF"},
		{"with a length that is none", ok + "Content-Length: abc\r\n\r\n", 0, "", "", `bad Content-Length "abc"`},
		{"with two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 0, "", "", `http: message cannot contain multiple Content-Length headers; got ["1" "2"]`},
		{"in an unknown coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", 0, "", "", `unsupported transfer encoding: "gzip, chunked"`},
		{"with more extensions than data", ok + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+long[:4000]+"\r\na\r\n", 6), 200, "aaaa", "", "malformed chunked encoding: too much non-data"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			for _, size := range []int{0, 1, 2, 3, 7, 64} {
				got := exchanged(tt.response, size, true)
				if tt.err != "" {
					require.EqualError(t, got.err, tt.err)
					assert.Equal(t, strings.Contains(tt.err, "EOF"), errors.Is(got.err, io.EOF) || errors.Is(got.err, io.ErrUnexpectedEOF))
					assert.Equal(t, !strings.Contains(tt.err, "EOF"), malformed(got.err), "it is a breach of protocol")
				} else {
					require.NoError(t, got.err)
					assert.Equal(t, complete, got.place)
					assert.Equal(t, tt.rest, got.rest)
				}
				assert.Equal(t, tt.status, got.status)
				assert.Equal(t, tt.body, got.body)
			}
		})
	}
}

// A head, with the interim ones before it, is as long as the limit at most.
func TestTheLengthOfAHead(t *testing.T) {
	const first, last, interim = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: ", "\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"
	for _, tt := range []struct {
		what, response string
		err            error
	}{
		{"at the limit", first + strings.Repeat("x", headLimit-len(first+last)) + last, nil},
		{"above it", first + strings.Repeat("x", headLimit-len(first+last)+1) + last, errHeadLong},
		{"without an end", first + strings.Repeat("x", headLimit), errHeadLong},
		{"with interim ones, at the limit", interim + first + strings.Repeat("x", headLimit-len(interim+first+last)) + last, nil},
		{"with interim ones, above it", interim + first + strings.Repeat("x", headLimit-len(interim+first+last)+1) + last, errHeadLong},
		{"interim ones without an end", strings.Repeat(interim, headLimit/len(interim)+1), errHeadLong},
	} {
		for _, size := range []int{0, 64 << 10, 1000} {
			assert.Equal(t, tt.err, exchanged(tt.response, size, false).err, tt.what)
		}
	}
}

// FuzzExchange: however a response is cut into reads, an exchange takes what
// net/http takes, and gives the same status and body.
func FuzzExchange(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 ;x\r\nhello\r\n0;y\r\nA: b\r\n\r\n",
		"HTTP/1.0 404 Not Found\r\n\r\nhello",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
		"HTTP/1.1 200\n\n",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, response string, size int) {
		got := exchanged(response, max(size, 0)%64, true)
		in := bufio.NewReader(strings.NewReader(response))
		resp, err := http.ReadResponse(in, post)
		for err == nil && resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			resp, err = http.ReadResponse(in, post)
		}
		if err != nil {
			require.Error(t, got.err)
			return
		}
		if resp.StatusCode == http.StatusSwitchingProtocols || len(resp.TransferEncoding) > 0 {
			return // has no body for us; FuzzChunks
		}
		body, err := io.ReadAll(resp.Body)
		require.Equal(t, err == nil, got.err == nil, "net/http: %v, here: %v", err, got.err)
		require.Equal(t, resp.StatusCode, got.status)
		require.Equal(t, string(body), got.body)
	})
}

// FuzzChunks: chunks and their trailer are taken as by net/http, however they are
// cut.
func FuzzChunks(f *testing.F) {
	for _, s := range []string{
		"5\r\nhello\r\n0\r\n\r\n", "5;a\r\nhello\r\n00\r\n\r\n", "1 \t\r\na\r\nF\r\n0123456789abcde\r\n0\r\n", "g\r\n", "1\n", "\r\n",
		"0\r\nA: b\r\n\r\n", "0\r\n0\r\n\r\n", "0\r\nA: b\nC: d\r\n\r\n", "0\r\n\n\r\n", "0\r\n a\r\n\r\n",
	} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, body string, size int) {
		var got strings.Builder
		var d chunks
		var bad error
		for in := []byte(body); len(in) > 0 && bad == nil && d.place != chunkDone; {
			part := in[:min(max(size, 1), len(in))]
			in = in[len(part):]
			_, bad = d.take(part, func(b []byte) error { got.Write(b); return nil })
		}
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+body)), post)
		require.NoError(t, err)
		want, err := io.ReadAll(resp.Body)
		if bad == errTrailerLong || err != nil && bare(err) == errTrailerLong {
			t.Skip("where it looks for the end of a trailer depends on how much lies in its buffer")
		}
		require.Equal(t, err == nil, bad == nil && d.place == chunkDone, "net/http: %v, here: %v at %v", err, bad, d.place)
		if err == nil {
			require.Equal(t, string(want), got.String())
		} else {
			require.True(t, strings.HasPrefix(got.String(), string(want)) || strings.HasPrefix(string(want), got.String()))
		}
	})
}

func Example_exchange() {
	x := exchange{to: taken{
		func(r *http.Response) { fmt.Println(r.Status) },
		func(b []byte) { fmt.Printf("%q\n", b) },
	}}
	x.take([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nev"))
	x.take([]byte("ent\r\n5\r\nEVENT\r\n0\r\n\r\n"))
	fmt.Println(x.place == complete)
	// Output:
	// 200 OK
	// "ev"
	// "ent"
	// "EVENT"
	// true
}
