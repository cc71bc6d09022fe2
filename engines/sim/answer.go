package sim

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
