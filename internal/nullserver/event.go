package nullserver

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	countDigits = 7
	head        = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n"
)

// reply is what the texts of one reply have in common.
type reply struct {
	number  uint64
	model   string // as it stands in JSON, with its quotes
	token   string // likewise
	prompt  int
	running bool // usage in each event
}

// event is the text of one event as one chunk, with places to fill in; a place
// of zero is none.
type event struct {
	text         []byte
	prompt       int
	count, total int
}

// newEvent makes an event as vLLM sends it, of about 260 bytes with running
// usage. The last one has the finish reason.
func newEvent(r *reply, last bool) event {
	finish := "null"
	if last {
		finish = `"length"`
	}
	data := fmt.Sprintf(`data: {"id":"cmpl-%016x","object":"text_completion","created":1764547200,"model":%s,`+
		`"choices":[{"index":0,"text":%s,"logprobs":null,"finish_reason":%s,"stop_reason":null}],"usage":`, r.number, r.model, r.token, finish)
	e := event{prompt: r.prompt}
	if r.running {
		data += fmt.Sprintf(`{"prompt_tokens":%d,"total_tokens":`, r.prompt)
		e.total = len(data)
		data += strings.Repeat(" ", countDigits) + `,"completion_tokens":`
		e.count = len(data)
		data += strings.Repeat(" ", countDigits) + `}`
	} else {
		data += "null"
	}
	e.text = chunk(data + "}\n\n")
	if before := len(e.text) - len(data) - len("}\n\n\r\n"); before > 0 {
		for _, place := range []*int{&e.count, &e.total} {
			if *place > 0 {
				*place += before
			}
		}
	}
	return e
}

// fill fills in the number of the event, from 1, with spaces before it so that
// all events are of one length.
func (e *event) fill(n int) {
	if e.count > 0 {
		put(e.text[e.count:e.count+countDigits], n)
		put(e.text[e.total:e.total+countDigits], n+e.prompt)
	}
}

// put writes a positive n, filled up with spaces from the left.
func put(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		if n == 0 {
			b[i] = ' '
			continue
		}
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// chunk frames a text for the wire.
func chunk(text string) []byte {
	return []byte(strconv.FormatInt(int64(len(text)), 16) + "\r\n" + text + "\r\n")
}

func (r *reply) counts(tokens int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, r.prompt, r.prompt+tokens, tokens)
}

// ending is what follows the last token: usage where it was asked for, [DONE]
// and the end of the body.
func (r *reply) ending(tokens int, usage bool) []byte {
	text := "data: [DONE]\n\n"
	if usage {
		text = fmt.Sprintf(`data: {"id":"cmpl-%016x","object":"text_completion","created":1764547200,"model":%s,"choices":[],"usage":%s}`+"\n\n",
			r.number, r.model, r.counts(tokens)) + text
	}
	return append(chunk(text), "0\r\n\r\n"...)
}

// whole is a reply that is no stream.
func (r *reply) whole(tokens int) string {
	text := r.token[:len(r.token)-1]
	text += strings.Repeat(r.token[1:len(r.token)-1], tokens-1) + `"`
	return fmt.Sprintf(`{"id":"cmpl-%016x","object":"text_completion","created":1764547200,"model":%s,`+
		`"choices":[{"index":0,"text":%s,"logprobs":null,"finish_reason":"length"}],"usage":%s}`, r.number, r.model, text, r.counts(tokens))
}
