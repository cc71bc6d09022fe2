//go:build linux

package nullserver

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// sentDigits is the length of a send time: CLOCK_MONOTONIC of a century.
	sentDigits  = 19
	countDigits = 6
	// prompt is the number of prompt tokens that usage claims.
	prompt = 128
	head   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n"
)

// event is the text of one event as one chunk, with places to fill in.
type event struct {
	text               []byte
	sent, count, total int
}

// newEvent makes an event of about 260 bytes, as vLLM sends with running usage.
func newEvent(id uint64) event {
	data := fmt.Sprintf(`data: {"id":"cmpl-%016x","object":"text_completion","created":1764547200,"model":"null",`+
		`"choices":[{"index":0,"text":" token","logprobs":null,"finish_reason":null}],`+
		`"usage":{"prompt_tokens":%d,"total_tokens":`, id, prompt)
	var e event
	e.total = len(data)
	data += strings.Repeat(" ", countDigits) + `,"completion_tokens":`
	e.count = len(data)
	data += strings.Repeat(" ", countDigits) + `},"sent":"`
	e.sent = len(data)
	data += strings.Repeat("0", sentDigits) + "\"}\n\n"
	size := fmt.Sprintf("%x\r\n", len(data))
	e.text = []byte(size + data + "\r\n")
	e.sent, e.count, e.total = e.sent+len(size), e.count+len(size), e.total+len(size)
	return e
}

// number fills in the number of the event, from 1, with spaces before it so
// that all events are of one length.
func (e *event) number(n int) {
	put(e.text[e.count:e.count+countDigits], int64(n), ' ')
	put(e.text[e.total:e.total+countDigits], int64(n+prompt), ' ')
}

// stamp fills in the send time.
func (e *event) stamp(at int64) { put(e.text[e.sent:e.sent+sentDigits], at, '0') }

// put writes a positive n, filled up from the left.
func put(b []byte, n int64, fill byte) {
	for i := len(b) - 1; i >= 0; i-- {
		if n == 0 {
			b[i] = fill
			continue
		}
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// ending is what follows the last token: the finish reason, [DONE] and the end
// of the body.
func ending() []byte {
	data := `data: {"object":"text_completion","model":"null","choices":[{"index":0,"text":"","finish_reason":"length"}]}` +
		"\n\ndata: [DONE]\n\n"
	return []byte(strconv.FormatInt(int64(len(data)), 16) + "\r\n" + data + "\r\n0\r\n\r\n")
}
