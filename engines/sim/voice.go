package sim

import (
	"encoding/json"
	"strconv"
	"time"
)

// voice writes a sequence's answer in the form that its request asked for, and
// in the flavor's words: those of vLLM 0.32 and SGLang 0.5.23.
type voice struct {
	q      *sequence
	ask    *ask
	chat   bool
	flavor Flavor
	prompt []int32 // for return_token_ids; nil when not asked for
	model  string
	name   string       // the reply's id
	made   int64        // when, in Unix seconds
	hide   bool         // cached tokens
	mute   bool         // all counts
	size   int          // tokens an event
	clock  func() int64 // stamps events; nil does not
	off    float64

	buf    []byte
	head   []byte // of every event, up to its choices
	sent   int    // tokens that have left in events
	spoken bool   // the role event of a chat has left
}

func newVoice(s *Server, a *ask, q *sequence, chat bool, prompt []int32) *voice {
	v := &voice{
		q: q, ask: a, chat: chat, flavor: s.cfg.Flavor, model: s.cfg.answerModel(), clock: s.clock,
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
	if v.flavor == SGLang {
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

// event writes one event with the tokens after those sent, up to token upTo. In
// chats the role goes before, and SGLang's finish reason after, in an event of
// its own.
func (v *voice) event(upTo int, last bool) {
	if v.chat && !v.spoken {
		v.role()
	}
	apart := v.chat && v.flavor == SGLang
	v.begin()
	if v.chat {
		v.add(`{"index":0,"delta":{`, v.reasoning(), `"content":"`)
	} else {
		v.add(`{"index":0,"text":"`)
	}
	for i := v.sent; i < upTo; i++ {
		v.buf = appendToken(v.buf, outputToken(v.q.hash, i))
	}
	v.add(`"`)
	if v.chat {
		v.add(`}`)
	}
	v.reason(last && !apart)
	v.ids(upTo)
	v.add(`}]`)
	v.running(upTo)
	if last && !v.ask.StreamOptions.IncludeUsage { // else it is on the event of counts
		v.fingerprint()
	}
	v.end()
	v.sent = upTo
	if last && apart {
		v.begin()
		v.add(`{"index":0,"delta":{"reasoning_content":null}`)
		v.reason(true)
		v.add(`}]`)
		v.end()
	}
}

// role writes the event by which a chat begins.
func (v *voice) role() {
	v.spoken = true
	v.begin()
	v.add(`{"index":0,"delta":{`, v.reasoning(), `"role":"assistant","content":""},"logprobs":null,"finish_reason":null`)
	if v.flavor == SGLang {
		v.add(`,"matched_stop":null}]`)
	} else {
		v.add(`}]`)
		v.running(0)
		if v.flavor == VLLM {
			v.list("prompt_token_ids", v.prompt)
			v.add(`,"prompt_text":null`)
		}
	}
	v.end()
}

// reasoning is the field that SGLang has in every delta.
func (v *voice) reasoning() string {
	if v.flavor == SGLang {
		return `"reasoning_content":null,`
	}
	return ""
}

// reason writes how a choice ended, if it has.
func (v *voice) reason(over bool) {
	v.add(`,"logprobs":null,"finish_reason":`)
	if over {
		v.add(`"`, v.q.reason, `"`)
	} else {
		v.add(`null`)
	}
	switch {
	case v.flavor == SGLang:
		v.add(`,"matched_stop":null`)
	case !v.chat || over:
		v.add(`,"stop_reason":null`)
	}
}

// ids writes the ids of an event's tokens and, in the first one, the prompt's.
// SGLang has none in chats, and TensorRT-LLM none at all; vLLM writes null
// where they were not asked for.
func (v *voice) ids(upTo int) {
	asked := v.ask.ReturnTokenIDs
	if v.flavor == TensorRTLLM || v.flavor == SGLang && (v.chat || !asked) {
		return
	}
	var prompt []int32
	if v.sent == 0 && !v.chat {
		prompt = v.prompt
	}
	if v.flavor == VLLM && !v.chat {
		v.list("prompt_token_ids", prompt)
	}
	if asked {
		v.add(`,"token_ids":[`)
		for i := v.sent; i < upTo; i++ {
			v.id(outputToken(v.q.hash, i), i == v.sent)
		}
		v.add(`]`)
	} else {
		v.add(`,"token_ids":null`)
	}
	if v.flavor == SGLang && prompt != nil {
		v.list("prompt_token_ids", prompt)
	}
}

// list writes a field of ids, null when there are none.
func (v *voice) list(name string, ids []int32) {
	v.add(`,"`, name, `":`)
	if ids == nil {
		v.add(`null`)
		return
	}
	v.add(`[`)
	for i, id := range ids {
		v.id(id, i == 0)
	}
	v.add(`]`)
}

func (v *voice) id(id int32, first bool) {
	if !first {
		v.buf = append(v.buf, ',')
	}
	v.buf = strconv.AppendInt(v.buf, int64(id), 10)
}

func (v *voice) begin() { v.buf = append(v.buf, v.head...) }

func (v *voice) add(parts ...string) {
	for _, p := range parts {
		v.buf = append(v.buf, p...)
	}
}

// fingerprint is what vLLM writes into the last event that has choices or
// counts.
func (v *voice) fingerprint() {
	if v.flavor == VLLM {
		v.add(`,"system_fingerprint":"vllm-`, Version, `"`)
	}
}

// end ends an event, with the time where it is asked for.
func (v *voice) end() {
	if v.clock != nil {
		v.add(`,"sent":`)
		v.buf = strconv.AppendInt(v.buf, v.clock(), 10)
	}
	v.add("}\n\n")
}

// error writes an error object into the stream.
func (v *voice) error(text string) {
	v.buf = append(v.buf, `data: {"error":{"message":`...)
	v.buf = appendString(v.buf, text)
	v.buf = append(v.buf, `,"type":"InternalServerError","param":null,"code":500}}`+"\n\n"...)
}

func (v *voice) done() { v.buf = append(v.buf, "data: [DONE]\n\n"...) }
