//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	// word is the text of every token: a word of the tokenizer's vocabulary.
	word = " w17"
	// prompt is the number of prompt tokens that usage claims.
	prompt = 32
)

// event is the text of one token event as vLLM writes it: about 250 bytes.
func event(number, token int, last, usage bool) string {
	finish, used := "null", "null"
	if last {
		finish = `"length"`
	}
	if usage {
		used = counts(token)
	}
	return fmt.Sprintf(`data: {"id":"cmpl-%032x","object":"text_completion","created":1764547200,"model":"%s",`+
		`"choices":[{"index":0,"text":"%s","logprobs":null,"finish_reason":%s,"stop_reason":null}],"usage":%s}`+"\n\n",
		number, model, word, finish, used)
}

func counts(tokens int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, prompt, prompt+tokens, tokens)
}

// ending is what follows the last token: usage where it was asked for, [DONE].
func ending(number, tokens int, usage bool) string {
	text := "data: [DONE]\n\n"
	if usage {
		text = fmt.Sprintf(`data: {"id":"cmpl-%032x","object":"text_completion","created":1764547200,"model":"%s","choices":[],"usage":%s}`+
			"\n\n", number, model, counts(tokens)) + text
	}
	return text
}

// chunk frames a text for the wire.
func chunk(text string) string {
	return strconv.FormatInt(int64(len(text)), 16) + "\r\n" + text + "\r\n"
}

// whole is a reply that is no stream.
func whole(number, tokens int) string {
	return fmt.Sprintf(`{"id":"cmpl-%032x","object":"text_completion","created":1764547200,"model":"%s",`+
		`"choices":[{"index":0,"text":"%s","logprobs":null,"finish_reason":"length"}],"usage":%s}`,
		number, model, strings.Repeat(word, tokens), counts(tokens))
}
