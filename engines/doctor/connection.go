package doctor

import (
	"fmt"
	"strings"
	"time"
)

// settleAfter is how long the client waits to see whether a connection stays.
const settleAfter = 200 * time.Millisecond

// connections looks at headers and at which connections are used again: two
// small questions, and then two small streams, one after the other.
func (v *visit) connections() bool {
	var asked, streamed [2]*answer
	for i := range asked {
		a, err := v.keptAsk("GET", "/v1/models", nil)
		if err != nil {
			return v.noConnection(err)
		}
		asked[i] = a
		v.pause(settleAfter / 2)
	}
	for i := range streamed {
		a, err := v.rawStream()
		if err != nil {
			return v.noConnection(err)
		}
		streamed[i] = a
		v.pause(settleAfter)
	}
	v.http(streamed[0])
	v.keepAlive(asked[:], streamed[:])
	v.compression(streamed[0])
	v.clock(streamed[0])
	return v.ctx.Err() == nil
}

// keptAsk asks over a connection that was kept, and over a new one where the
// server has closed that in the very moment.
func (v *visit) keptAsk(method, path string, body map[string]any) (*answer, error) {
	a, err := v.raw.ask(v.ctx, true, method, path, body)
	if err != nil && v.ctx.Err() == nil {
		a, err = v.raw.ask(v.ctx, true, method, path, body)
	}
	return a, err
}

func (v *visit) noConnection(err error) bool {
	if v.ctx.Err() == nil {
		v.say("http", Fault, "find out what closes connections or does not answer", "a request failed: %v", err)
	}
	return false
}

// rawStream is a stream of two tokens. Fields that the client can do without
// are left out where the server does not take them.
func (v *visit) rawStream() (*answer, error) {
	path, body := v.body(8)
	body["max_tokens"], body["stream"], body["temperature"] = 2, true, 0
	body["ignore_eos"] = true
	v.sent++
	a, err := v.keptAsk("POST", path, body)
	if err == nil && a.failed() {
		v.fail(fmt.Errorf("POST %s: status %d", path, a.status))
		v.sent++
		a, err = v.keptAsk("POST", path, body)
	}
	if err == nil && (a.status == 400 || a.status == 422) {
		delete(body, "ignore_eos")
		a, err = v.keptAsk("POST", path, body)
	}
	return a, err
}

// body is the route and the body of a request with a prompt.
func (v *visit) body(prompt int) (path string, body map[string]any) {
	r := v.request(prompt, 1)
	body = map[string]any{"model": v.model.ID}
	switch {
	case v.form.chat:
		body["messages"] = []any{map[string]any{"role": "user", "content": r.Text}}
		return "/v1/chat/completions", body
	case v.form.text:
		body["prompt"] = r.Text
	default:
		body["prompt"] = r.Tokens
	}
	return "/v1/completions", body
}

// http: the protocol and who speaks it.
func (v *visit) http(a *answer) {
	seen := a.proto
	for _, name := range []string{"Server", "Via"} {
		if by := a.header.Get(name); by != "" {
			seen += fmt.Sprintf(", %s: %s", name, by)
		}
	}
	switch {
	case a.proto != "HTTP/1.1":
		v.say("http", Warn, "go round what speaks it: it has no chunked streams and keeps no connections", "%s", seen)
	case a.header.Get("Via") != "":
		v.say("http", Warn, "a proxy is measured with the server: go round it unless it is meant", "%s", seen)
	default:
		v.say("http", OK, "", "%s", seen)
	}
}

// keepAlive: whether a second request uses the connection of the first.
func (v *visit) keepAlive(asked, streamed []*answer) {
	const name = "keep-alive"
	const remedy = "have the server or the proxy keep connections; else every request opens one, and its TTFT holds the time for that"
	questions, streams := asked[1].reused, streamed[1].reused
	switch {
	case questions && streams:
		v.say(name, OK, "", "a connection is used again, after a stream too")
	case questions && v.report.Kind == "llamacpp":
		v.say(name, Warn, "llama-server does so by itself: TTFT holds the time to connect, which is short on one host", "the connection is closed after each stream%s", announced(streamed[0]))
	case questions:
		v.say(name, Warn, remedy, "the connection is closed after each stream%s", announced(streamed[0]))
	default:
		v.say(name, Warn, remedy, "the connection is closed after each reply%s", announced(asked[0]))
	}
}

func announced(a *answer) string {
	if a.closes {
		return ""
	}
	return ", without saying so"
}

const noCompression = "switch compression of text/event-stream off, in the server or in the proxy before it"

// compression: nobody offered any.
func (v *visit) compression(a *answer) {
	const name, remedy = "compression", noCompression
	switch coding := strings.ToLower(a.header.Get("Content-Encoding")); coding {
	case "", "identity":
		v.say(name, OK, "", "streams are not compressed")
	case "gzip", "x-gzip":
		v.say(name, Warn, remedy, "streams are compressed (%s) though no compression was offered: gaps between events are the compressor's", coding)
	default:
		v.say(name, Fault, remedy, "streams are compressed (%s) though no compression was offered, and cannot be read", coding)
	}
}

// clockSlack is what two clocks that agree may differ by: one is told in whole
// seconds.
const clockSlack = 2 * time.Second

// clock: the server's time beside ours. Nothing that is measured rests on it.
func (v *visit) clock(a *answer) {
	const name = "clock"
	type told struct {
		by string
		at time.Time
	}
	var all []told
	if date, err := time.Parse(time.RFC1123, a.header.Get("Date")); err == nil {
		all = append(all, told{"Date", date})
	}
	if at, ok := a.created(); ok {
		all = append(all, told{"created", at})
	}
	var by []string
	for _, t := range all {
		// A time in whole seconds stands for any in that second.
		ours := a.began.Add(a.ended.Sub(a.began) / 2)
		if off := t.at.Add(time.Second / 2).Sub(ours); off.Abs() > clockSlack {
			word := "ahead of"
			if off < 0 {
				word = "behind"
			}
			v.say(name, Warn, "set both clocks (NTP): the server's log and metrics cannot be laid beside a run; latencies are this host's and stand", "the server's clock (%s) is %v %s this host's", t.by, off.Abs().Round(time.Second), word)
			return
		}
		by = append(by, t.by)
	}
	if len(by) == 0 {
		v.say(name, Unknown, "", "the server tells no time")
		return
	}
	v.say(name, OK, "", "the server's (%s) is this host's to %v", strings.Join(by, ", "), clockSlack)
}
