package openai

import (
	"encoding/json"
	"errors"
)

var errNotObject = errors.New("not a JSON object")

// decodeSlow is what decode means: encoding/json, object by object.
func decodeSlow(data []byte, e *event) error {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return errNotObject
		}
		return err
	}
	e.model, e.object, e.message, e.fault = top["model"], top["object"], top["message"], top["error"]
	if c := elements(top["prompt_token_ids"]); c.N > 0 {
		e.promptIDs = c
	}
	var choices []json.RawMessage
	_ = json.Unmarshal(top["choices"], &choices)
	for _, raw := range choices {
		o := object(raw)
		if o == nil {
			continue
		}
		c := choice{text: o["text"], finish: o["finish_reason"], ids: o["token_ids"], promptIDs: o["prompt_token_ids"]}
		for name, raw := range object(o["delta"]) {
			if _, field := c.delta([]byte(name)); field != nil {
				*field = raw
			}
		}
		e.add(&c)
	}
	if o := object(top["usage"]); o != nil {
		e.hasUsage = true
		e.prompt, e.completion = integer(o["prompt_tokens"]), integer(o["completion_tokens"])
		e.cached = integer(object(o["prompt_tokens_details"])["cached_tokens"])
	}
	if o := object(top["timings"]); o != nil {
		e.hasTimings = true
		e.cacheN, e.promptN, e.predictedN = integer(o["cache_n"]), integer(o["prompt_n"]), integer(o["predicted_n"])
	}
	return nil
}

// object is a raw value's members, nil when it is no object.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	_ = json.Unmarshal(raw, &o)
	return o
}
