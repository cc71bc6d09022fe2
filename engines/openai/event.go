package openai

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/openloop-go/openloop/engines"
)

// event is what the client needs of one event's JSON object. A field of a
// type that the protocol does not have there counts as absent. The raw values
// alias the event's data.
type event struct {
	// model, object, message and fault (the field "error") are raw values;
	// nil when absent.
	model, object, message, fault []byte
	finish                        []byte

	choices int
	// payload: something generated is carried; content: text of the answer
	// is; role: a choice announces its role.
	payload, content, role bool
	// ids counts token_ids, promptIDs prompt_token_ids.
	ids, promptIDs engines.Count

	prompt, completion, cached  engines.Count // usage
	cacheN, promptN, predictedN engines.Count // llama.cpp's timings
	hasUsage, hasTimings        bool
}

// choice is one entry of choices: raw values, nil when absent.
type choice struct {
	text, finish, ids, promptIDs                          []byte
	role, content, reasoning, thinking, tools, call, deny []byte
}

// add counts a choice in.
func (e *event) add(c *choice) {
	e.choices++
	if present(c.text) || present(c.content) || present(c.deny) {
		e.payload, e.content = true, true
	}
	if present(c.reasoning) || present(c.thinking) || present(c.tools) || present(c.call) {
		e.payload = true
	}
	if present(c.role) {
		e.role = true
	}
	if n := elements(c.ids); n.Known {
		e.ids = engines.Known(e.ids.N + n.N)
		e.payload = e.payload || n.N > 0
	}
	if n := elements(c.promptIDs); n.Known && n.N > 0 {
		e.promptIDs = n
	}
	if present(c.finish) {
		e.finish = c.finish
	}
}

// present reports that a raw value says something: not null, false, zero or empty.
func present(raw []byte) bool {
	switch len(raw) {
	case 0:
		return false
	case 1:
		return raw[0] != '0'
	case 2:
		return raw[0] != '"' && raw[0] != '[' && raw[0] != '{'
	}
	switch raw[0] {
	case '[':
		return first(raw) != ']'
	case '{':
		return first(raw) != '}'
	case 'n', 'f':
		return false
	}
	return true
}

// first is the first byte inside an object or array that is no space.
func first(raw []byte) byte {
	s := scan{b: raw, i: 1}
	return s.peek()
}

// elements counts the elements of an array; unknown for anything else.
func elements(raw []byte) engines.Count {
	if len(raw) == 0 || raw[0] != '[' {
		return engines.Count{}
	}
	s, n := scan{b: raw, i: 1}, 0
	for ; s.member(n, ']'); n++ {
		s.value(0)
	}
	if s.bad {
		return engines.Count{}
	}
	return engines.Known(n)
}

// integer is a raw value as a whole number; unknown when it is negative, not
// whole or not a number.
func integer(raw []byte) engines.Count {
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' || n > math.MaxInt32/10-1 {
			f, err := strconv.ParseFloat(string(raw), 64)
			if err != nil || f < 0 || f > 1<<53 || f != math.Trunc(f) {
				return engines.Count{}
			}
			return engines.Known(int(f))
		}
		n = n*10 + int(c-'0')
	}
	return engines.Count{N: n, Known: len(raw) > 0}
}

// text is a raw value as text: a string's contents, an object's "type" or
// "message", anything else as it stands.
func text(raw []byte) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if raw[0] == '"' && plain(raw[1:len(raw)-1]) {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) == nil {
		for _, name := range []string{"message", "type", "msg", "detail"} {
			if json.Unmarshal(o[name], &s) == nil && s != "" {
				return s
			}
		}
	}
	return string(raw)
}

// plain reports that the inside of a string stands for itself.
func plain(b []byte) bool {
	for _, c := range b {
		if c == '\\' || c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
