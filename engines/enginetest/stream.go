package enginetest

import (
	"strconv"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// stamps: the request was sent after the call began; its first event, its
// token events and its end follow in this order, before the call returned.
func (s *suite) stamps(w *watch) {
	id, r := w.request.ID, w.reply
	last, name := w.before, "the call"
	follow := func(at time.Duration, what string) {
		switch {
		case at == 0:
			s.wrong("stamps", "%s: %s has no time", id, what)
		case at < last:
			s.wrong("stamps", "%s: %s at %v is before %s at %v", id, what, at, name, last)
		default:
			last, name = at, what
		}
	}
	follow(r.Sent, "Sent")
	follow(r.FirstEvent, "FirstEvent")
	for i, c := range w.chunks {
		follow(c.At, "event "+strconv.Itoa(i))
	}
	follow(r.Closed, "Closed")
	if r.Closed > w.after {
		s.wrong("stamps", "%s: Closed at %v is after the return at %v", id, r.Closed, w.after)
	}
	if r.Connect < 0 || r.Connect > r.Sent-w.before {
		s.wrong("stamps", "%s: Connect is %v, but the request left %v after the call", id, r.Connect, r.Sent-w.before)
	}
}

// counts: what is known is right, what is not known is left open, and chunks
// and reply agree.
func (s *suite) counts(w *watch) {
	id, r := w.request.ID, w.reply
	for _, c := range []struct {
		name string
		n    engines.Count
	}{{"PromptTokens", r.PromptTokens}, {"OutputTokens", r.OutputTokens}, {"CachedTokens", r.CachedTokens}} {
		s.count(id+": "+c.name, c.n)
	}
	if w.request.Tokens != nil && r.PromptTokens.Known && r.PromptTokens.N != len(w.request.Tokens) {
		s.wrong("counts", "%s: PromptTokens is %d for a prompt of %d token ids", id, r.PromptTokens.N, len(w.request.Tokens))
	}
	if r.CachedTokens.Known && r.PromptTokens.Known && r.CachedTokens.N > r.PromptTokens.N {
		s.wrong("counts", "%s: CachedTokens is %d of %d prompt tokens", id, r.CachedTokens.N, r.PromptTokens.N)
	}
	tokens, sum, known := 0, 0, true
	for i, c := range w.chunks {
		s.count(id+": an event's Tokens", c.Tokens)
		if c.Content && !c.Token {
			s.wrong("counts", "%s: event %d has Content but not Token", id, i)
		}
		if !c.Token && c.Tokens.N > 0 {
			s.wrong("counts", "%s: event %d has %d Tokens but not Token", id, i, c.Tokens.N)
		}
		if c.Token {
			tokens++
			sum += c.Tokens.N
			known = known && c.Tokens.Known
		}
	}
	switch {
	case tokens == 0:
		s.wrong("counts", "%s: a success without a token event", id)
	case known && !r.OutputTokens.Known:
		s.wrong("counts", "%s: every event's Tokens is known, but OutputTokens is not", id)
	case known && sum != r.OutputTokens.N:
		s.wrong("counts", "%s: the events' Tokens add up to %d, OutputTokens is %d", id, sum, r.OutputTokens.N)
	case !known && r.OutputTokens.Known && sum > r.OutputTokens.N:
		s.wrong("counts", "%s: the known of the events' Tokens add up to %d, OutputTokens is %d", id, sum, r.OutputTokens.N)
	}
	if r.Finish == "" && len(r.Warnings) == 0 {
		s.wrong("counts", "%s: neither a finish reason nor a warning that it is missing", id)
	}
}

// count: a count is not negative, and zero when it is unknown.
func (s *suite) count(what string, c engines.Count) {
	if c.N < 0 || !c.Known && c.N != 0 {
		s.wrong("counts", "%s is %+v: a known count must not be negative, an unknown one must be zero", what, c)
	}
}

// length: the output is as long as asked, where its length is known.
func (s *suite) length(rule string, w *watch) {
	asked, n := w.request.MaxTokens, w.reply.OutputTokens
	if !n.Known {
		return
	}
	if n.N > asked || n.N < asked && !s.o.InexactLength {
		s.wrong("length", "%s: %d tokens out, asked for exactly %d (%s)", w.request.ID, n.N, asked, rule)
	}
}
