package openai

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// stream makes chunks and a reply of the events of one stream.
type stream struct {
	ctx    context.Context // the caller's
	emit   func(engines.Chunk)
	reply  *engines.Reply
	parser parser
	// at is when the last of the bytes that are being fed became readable, and
	// apart how long before that the first may have, where that is known. lost is
	// what the last chunk's time may be late by if more bytes followed it.
	at, apart, lost time.Duration
	// kind is the content type where it is not an event stream's.
	kind string
	// head is what came before it was clear what the body is; other holds a
	// body that is no event stream.
	head, other    []byte
	begun, foreign bool

	events, tokenEvents int
	// counted is the running count at the last token event; inexact says that
	// tokens of earlier events are not in it.
	counted int
	inexact bool
	// idSum adds token ids; idGap says that a token event had none.
	idSum int
	idGap bool

	done  bool   // [DONE] was seen
	fault string // the server's error, in its words
	odd   int    // events of no known shape
}

// otherLimit bounds what is kept of a body that is no event stream.
const otherLimit = 1 << 20

// over reports that nothing of interest can follow.
func (s *stream) over() bool { return s.done || s.fault != "" }

func (s *stream) warn(format string, args ...any) {
	s.reply.Warnings = append(s.reply.Warnings, fmt.Sprintf(format, args...))
}

// feed takes the next bytes of the body. An error is a breach of protocol.
func (s *stream) feed(b []byte) error {
	if !s.begun {
		s.head = append(s.head, b...)
		text := bytes.TrimLeft(bytes.TrimPrefix(s.head, byteOrderMark), " \t\r\n")
		if len(text) == 0 || bytes.HasPrefix(byteOrderMark, text) {
			return nil
		}
		s.begun = true
		// No line of an event stream begins with these; JSON and HTML do.
		s.foreign = strings.IndexByte("{[<", text[0]) >= 0
		b = s.head
		if !s.foreign && s.kind != "" {
			s.warn("the event stream has content type %q", s.kind)
		}
	}
	if s.foreign {
		if len(s.other) < otherLimit {
			s.other = append(s.other, b...)
		}
		return nil
	}
	return s.parser.feed(b, s.event)
}

// end takes the clean end of the body.
func (s *stream) end() {
	if s.foreign {
		return
	}
	before := *s.reply
	if s.parser.end(s.event) != nil {
		*s.reply = before // an event that was cut off
	}
}

var doneMark = []byte("[DONE]")

// event takes one event's data.
func (s *stream) event(data []byte, fault bool) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil
	}
	if s.events++; s.events == 1 {
		s.reply.FirstEvent = s.at
	}
	if s.over() {
		return nil
	}
	if bytes.Equal(data, doneMark) {
		s.done = true
		return nil
	}
	var e event
	if err := decode(data, &e); err != nil {
		if fault {
			s.fault = words(string(data))
			return nil
		}
		return fmt.Errorf("event %d is not a JSON object: %s", s.events, words(string(data)))
	}
	switch {
	case present(e.fault):
		s.fault = words(text(e.fault))
	case string(e.object) == `"error"` || fault && present(e.message):
		s.fault = words(text(e.message))
	case fault:
		s.fault = words(string(data))
	default:
		s.count(&e)
		// What has arrived already is not worth more than the caller's wish.
		return s.ctx.Err()
	}
	if s.fault == "" {
		s.fault = "an error without a message"
	}
	return nil
}

// count turns an event into a chunk and takes its counts into the reply.
func (s *stream) count(e *event) {
	if s.reply.Model == "" && present(e.model) {
		s.reply.Model = text(e.model)
	}
	if e.finish != nil {
		s.reply.Finish = text(e.finish)
	}
	if e.choices == 0 && !e.hasUsage && !e.hasTimings {
		s.odd++
	}
	running := e.completion
	if !running.Known {
		running = e.predictedN
	}
	grown := running.Known && running.N > s.counted

	c := engines.Chunk{At: s.at, Token: e.payload, Content: e.content, Lost: s.lost}
	s.lost = s.apart
	// Growth without payload is held-back text. A first count that comes with
	// the finish reason is the total of a server that has no running count.
	if !c.Token && grown && e.choices > 0 && !e.role {
		c.Token = e.finish == nil || s.counted > 0
	}
	if c.Token {
		c.Tokens = s.tokens(e, running, grown)
		s.tokenEvents++
	}
	s.totals(e, running)
	s.emit(c)
}

// tokens is how many tokens a token event carries.
func (s *stream) tokens(e *event, running engines.Count, grown bool) engines.Count {
	n := e.ids
	switch {
	case n.Known:
		s.idSum += n.N
		s.counted += n.N
		s.inexact = s.inexact && !running.Known
	case grown && !s.inexact:
		n = engines.Known(running.N - s.counted)
		s.idGap = true
	default:
		s.idGap = true
		s.inexact = !running.Known
	}
	if running.Known && running.N >= s.counted {
		s.counted = running.N
	}
	return n
}

// totals takes the server's counts of the request so far.
func (s *stream) totals(e *event, running engines.Count) {
	r := s.reply
	if running.Known {
		r.OutputTokens = running
	}
	switch {
	case e.prompt.Known:
		r.PromptTokens = e.prompt
	case r.PromptTokens.Known:
	case e.promptN.Known && e.cacheN.Known:
		r.PromptTokens = engines.Known(e.promptN.N + e.cacheN.N)
	case e.promptIDs.Known:
		r.PromptTokens = e.promptIDs
	}
	switch {
	case e.cached.Known:
		r.CachedTokens = e.cached
	case e.cacheN.Known && !r.CachedTokens.Known:
		r.CachedTokens = e.cacheN
	}
}

// progress says how far a stream came that did not end well.
func (s *stream) progress() string {
	switch {
	case s.events == 0:
		return "before the first event"
	case s.tokenEvents == 0:
		return "before the first token"
	default:
		return fmt.Sprintf("after %d token events", s.tokenEvents)
	}
}
