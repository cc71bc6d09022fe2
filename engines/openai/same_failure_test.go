package openai

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// What a server does wrong fails in the same words whichever transport asks it.
func TestBothTransportsFailAlike(t *testing.T) {
	const (
		ok      = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		inParts = ok + "Transfer-Encoding: chunked\r\n\r\n"
		early   = "HTTP/1.1 103 Early Hints\r\n\r\n"
		shut    = "the server closed the connection without an answer: look into its log"
	)
	events := completion("a") + ended
	part := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, events)
	require.NoError(t, z.Close())
	packed.Bytes()[packed.Len()-5] ^= 1 // its checksum
	whole := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(events), events)
	for _, tt := range []struct {
		what, answer string
		class        engines.Class
		says         string // after the route
		warning      string // one a line
	}{
		{"a length that is none", ok + "Content-Length: abc\r\n\r\n" + events, engines.Protocol, `: bad Content-Length "abc"`, ""},
		{"a length below zero", ok + "Content-Length: -1\r\n\r\n" + events, engines.Protocol, `: bad Content-Length "-1"`, ""},
		{"an empty length", ok + "Content-Length: \r\n\r\n" + events, engines.Protocol, `: invalid empty Content-Length ""`, ""},
		{"two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n" + events, engines.Protocol,
			`: http: message cannot contain multiple Content-Length headers; got ["1" "2"]`, ""},
		{"two lengths that are the same", ok + fmt.Sprintf("Content-Length: %d\r\n", len(events)) + whole, "", "", ""},
		{"an unknown coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n" + part(events) + "0\r\n\r\n", engines.Protocol,
			`: unsupported transfer encoding: "gzip, chunked"`, ""},
		{"two codings", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + events, engines.Protocol,
			`: too many transfer encodings: ["chunked" "identity"]`, ""},
		{"a field that may not be in a trailer", ok + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n", engines.Protocol,
			`: bad trailer key "Content-Length"`, ""},
		{"a header that is none", ok + "junk\r\n" + whole, engines.Protocol, `: malformed MIME header: missing colon: "junk"`, ""},

		{"half a head", ok + "X-Ty", engines.Reset, ": " + shut, ""},
		{"a head without its blank line", ok, engines.Reset, ": " + shut, ""},
		{"half a status line", "HTTP/1.1 200 O", engines.Reset, ": " + shut, ""},
		{"half a status", "HTTP/1.1 20", engines.Reset, ": " + shut, ""},
		{"half a protocol", "HTTP/1.", engines.Reset, ": " + shut, ""},
		{"half a line of another protocol", "SSH-2.0-Open", engines.Protocol, `: what answers does not speak HTTP (it says "SSH-2.0-Open"): correct the URL`, ""},
		{"half a banner", "220 mail.example ES", engines.Protocol, `: what answers does not speak HTTP (it says "mail.example"): correct the URL`, ""},

		{"a line feed alone after a chunk's length", inParts + "5\nhello\n", engines.Protocol,
			", before the first event: malformed chunked encoding: chunked line ends with bare LF", ""},
		{"a return in a chunk's length", inParts + "5\r5\r\n", engines.Protocol, ", before the first event: malformed chunked encoding: invalid CR in chunked line", ""},
		{"no length of a chunk", inParts + "\r\nhello\r\n", engines.Protocol,
			", before the first event: malformed chunked encoding: empty hex number for chunk length", ""},
		{"a chunk's length that is none", inParts + "x\r\n", engines.Protocol, ", before the first event: invalid byte in chunk length", ""},
		{"a chunk's length that is too large", inParts + "fffffffffffffffff\r\n", engines.Protocol, ", before the first event: http chunk length too large", ""},
		{"a chunk's length without end", inParts + "5;" + strings.Repeat("x", 5000) + "\r\n", engines.Protocol,
			", before the first event: malformed chunked encoding: header line too long", ""},
		{"more extensions than data", inParts + strings.Repeat("1;"+strings.Repeat("x", 4000)+"\r\n\n\r\n", 6), engines.Protocol,
			", before the first event: malformed chunked encoding: too much non-data", ""},
		{"a chunk that is longer than it says", inParts + "1\r\n\n\n\n", engines.Protocol, ", before the first event: malformed chunked encoding", ""},

		{"a trailer", inParts + part(events) + "0\r\nA: b\r\nC: d\r\n\r\n", "", "", ""},
		{"a trailer that is none", inParts + part(events) + "0\r\njunk\r\n\r\n", "", "",
			`what follows the last event cannot be read: malformed MIME header: missing colon: "junk"`},
		{"a trailer that is none, of a stream without an end", inParts + part(completion("a")) + "0\r\njunk\r\n\r\n", engines.Protocol,
			`, after 1 token events: malformed MIME header: missing colon: "junk"`, ""},
		{"half a trailer", inParts + part(events) + "0\r\nA: b\r\n", "", "", "the connection broke after the last event"},
		{"half a trailer, of a stream without an end", inParts + part(completion("a")) + "0\r\nA: b\r\n", engines.Reset,
			", after 1 token events: the server closed the connection before its answer had ended: look into its log", ""},
		{"a trailer with line feeds alone", inParts + part(events) + "0\r\nA: b\n\n", "", "", "the connection broke after the last event"},
		{"a long trailer", inParts + part(events) + "0\r\nA: " + strings.Repeat("x", 5000) + "\r\n\r\n", "", "",
			"what follows the last event cannot be read: malformed chunked encoding: suspiciously long trailer"},

		{"another checksum than its gzip has", ok + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", packed.Len(), packed.String()), "", "",
			"the stream was compressed (gzip) though no compression was offered: gaps may be the compressor's\nwhat follows the last event cannot be read: gzip: invalid checksum"},
		{"interim answers", strings.Repeat(early, 20) + ok + whole, "", "", ""},
		{"too many interim answers", strings.Repeat(early, headLimit/len(early)+1) + ok + whole, engines.Protocol,
			": malformed HTTP response: its head is longer than 1 MiB", ""},
		{"a head of half the limit", ok + "A: " + strings.Repeat("x", headLimit/2) + "\r\n" + whole, "", "", ""},
		{"a head of twice the limit", ok + "A: " + strings.Repeat("x", 2*headLimit) + "\r\n" + whole, engines.Protocol,
			": malformed HTTP response: its head is longer than 1 MiB", ""},
		{"a switch to another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n" + events, engines.Status, ": 101 Switching Protocols", ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			for what, direct := range map[string]bool{"direct": true, "net/http": false} {
				serve := func(c net.Conn) {
					defer c.Close()
					if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
						io.Copy(io.Discard, r.Body)
						io.WriteString(c, tt.answer)
					}
				}
				rawMemory(t, serve, Config{}, func(t *testing.T, e *Engine) {
					e.direct = nil
					if direct {
						e.direct = pumped(e)
					}
					got := generate(t, e)
					require.Equal(t, tt.class, got.class(), "%s: %v", what, got.err)
					if tt.class != "" {
						assert.EqualError(t, got.err, "http://engine: POST /v1/completions"+tt.says, what)
					}
					var warnings []string
					if tt.warning != "" {
						warnings = strings.Split(tt.warning, "\n")
					}
					assert.Equal(t, warnings, got.reply.Warnings, what)
				})
			}
		})
	}
}
