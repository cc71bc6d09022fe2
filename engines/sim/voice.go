package sim

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// voice writes a sequence's answer in the form that its request asked for.
type voice struct {
	q      *sequence
	ask    *ask
	chat   bool
	sglang bool
	prompt []int32 // for return_token_ids; nil when not asked for
	model  string
	name   string // the reply's id
	made   int64  // when, in Unix seconds
	hide   bool   // cached tokens
	mute   bool   // all counts
	size   int    // tokens an event
	off    float64

	buf    []byte
	head   []byte // of every event, up to its choices
	sent   int    // tokens that have left in events
	spoken bool   // the role event of a chat has left
}

func newVoice(s *Server, a *ask, q *sequence, chat bool, prompt []int32) *voice {
	v := &voice{
		q: q, ask: a, chat: chat, sglang: s.cfg.Flavor == SGLang, model: s.cfg.answerModel(),
		made: time.Now().Add(s.cfg.Faults.Protocol.ClockOff).Unix(), off: s.cfg.Faults.Protocol.Miscount,
		hide: s.cfg.Faults.HideCached, mute: s.cfg.Faults.NoUsage,
		size: max(1, s.cfg.Faults.TokensPerEvent, a.StreamInterval),
	}
	if a.ReturnTokenIDs {
		v.prompt = prompt
	}
	object := "text_completion"
	v.name = "cmpl-" + q.id
	if chat {
		object, v.name = "chat.completion.chunk", "chatcmpl-"+q.id
	}
	if v.sglang {
		v.name = q.id
	}
	v.head = append(v.head, `data: {"id":`...)
	v.head = appendString(v.head, v.name)
	v.head = append(v.head, `,"object":"`+object+`","created":`...)
	v.head = strconv.AppendInt(v.head, v.made, 10)
	v.head = append(v.head, `,"model":`...)
	v.head = appendString(v.head, v.model)
	v.head = append(v.head, `,"choices":[`...)
	return v
}

func appendString(b []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // a string always can be
	return append(b, quoted...)
}

// upTo writes the events of tokens made so far that are due.
func (v *voice) upTo(made int, over bool) {
	for i := v.sent + 1; i <= made; i++ {
		last := over && i == made
		if eventDue(v.sent, i, v.size) || last {
			v.event(i, last && v.q.fate == finished)
		}
	}
}

// event writes one event with the tokens after those sent, up to token upTo.
func (v *voice) event(upTo int, last bool) {
	if v.chat && !v.spoken {
		v.spoken = true
		v.buf = append(v.buf, v.head...)
		v.buf = append(v.buf, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null`...)
		v.promptIDs()
		v.buf = append(v.buf, `}]`...)
		v.running(0)
		v.buf = append(v.buf, "}\n\n"...)
	}
	b := append(v.buf, v.head...)
	if v.chat {
		b = append(b, `{"index":0,"delta":{"content":"`...)
	} else {
		b = append(b, `{"index":0,"text":"`...)
	}
	for i := v.sent; i < upTo; i++ {
		b = appendToken(b, outputToken(v.q.hash, i))
	}
	b = append(b, '"')
	if v.chat {
		b = append(b, '}')
	}
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	if last {
		b = append(append(append(b, '"'), v.q.reason...), '"')
	} else {
		b = append(b, "null"...)
	}
	if v.sglang {
		b = append(b, `,"matched_stop":null`...)
	} else {
		b = append(b, `,"stop_reason":null`...)
	}
	v.buf = b
	if v.ask.ReturnTokenIDs {
		if v.sent == 0 && !v.chat {
			v.promptIDs()
		}
		v.buf = append(v.buf, `,"token_ids":[`...)
		for i := v.sent; i < upTo; i++ {
			v.id(outputToken(v.q.hash, i), i == v.sent)
		}
		v.buf = append(v.buf, ']')
	}
	v.buf = append(v.buf, `}]`...)
	v.running(upTo)
	v.buf = append(v.buf, "}\n\n"...)
	v.sent = upTo
}

func (v *voice) promptIDs() {
	if v.prompt == nil {
		return
	}
	v.buf = append(v.buf, `,"prompt_token_ids":[`...)
	for i, id := range v.prompt {
		v.id(id, i == 0)
	}
	v.buf = append(v.buf, ']')
}

func (v *voice) id(id int32, first bool) {
	if !first {
		v.buf = append(v.buf, ',')
	}
	v.buf = strconv.AppendInt(v.buf, int64(id), 10)
}

// running writes the usage so far into an event, where it was asked for.
func (v *voice) running(tokens int) {
	if v.ask.StreamOptions.ContinuousUsage {
		v.buf = append(v.buf, `,"usage":`...)
		v.counts(tokens)
		v.buf = append(v.buf, '}')
	}
}

// told is the number of output tokens that usage tells of so many.
func (v *voice) told(tokens int) int { return tokens + int(math.Round(v.off*float64(tokens))) }

// counts writes a usage object but for its closing brace.
func (v *voice) counts(tokens int) {
	tokens = v.told(tokens)
	b := append(v.buf, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(v.q.prompt), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(v.q.prompt+tokens), 10)
	b = append(b, `,"completion_tokens":`...)
	v.buf = strconv.AppendInt(b, int64(tokens), 10)
}

// usage writes the last event's counts, where they were asked for.
func (v *voice) usage() {
	if !v.ask.StreamOptions.IncludeUsage {
		return
	}
	v.buf = append(append(v.buf, v.head...), `],"usage":`...)
	v.counts(v.sent)
	if !v.hide {
		v.buf = append(v.buf, `,"prompt_tokens_details":{"cached_tokens":`...)
		v.buf = append(strconv.AppendInt(v.buf, int64(v.q.hit), 10), '}')
	}
	v.buf = append(v.buf, "}}\n\n"...)
}

// error writes an error object into the stream.
func (v *voice) error(text string) {
	v.buf = append(v.buf, `data: {"error":{"message":`...)
	v.buf = appendString(v.buf, text)
	v.buf = append(v.buf, `,"type":"InternalServerError","param":null,"code":500}}`+"\n\n"...)
}

func (v *voice) done() { v.buf = append(v.buf, "data: [DONE]\n\n"...) }

// object is the whole answer of a request that does not stream.
func (v *voice) object() map[string]any {
	ids := make([]int32, v.q.want)
	for i := range ids {
		ids[i] = outputToken(v.q.hash, i)
	}
	text := detokenize(ids)
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": v.q.reason}
	object := "text_completion"
	if v.chat {
		object = "chat.completion"
		choice["message"] = map[string]any{"role": "assistant", "content": text}
	} else {
		choice["text"] = text
	}
	if v.ask.ReturnTokenIDs {
		choice["token_ids"], choice["prompt_token_ids"] = ids, v.prompt
	}
	answer := map[string]any{"id": v.name, "object": object, "created": v.made, "model": v.model, "choices": []any{choice}}
	if v.mute {
		return answer
	}
	tokens := v.told(v.q.want)
	usage := map[string]any{"prompt_tokens": v.q.prompt, "completion_tokens": tokens, "total_tokens": v.q.prompt + tokens}
	if !v.hide {
		usage["prompt_tokens_details"] = map[string]any{"cached_tokens": v.q.hit}
	}
	answer["usage"] = usage
	return answer
}
