package openai

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/engines"
)

// check refuses a request that cannot be sent as it is meant.
func (e *Engine) check(r *engines.Request) error {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch {
	case e.cfg.Chat && r.Tokens != nil:
		bad("Request.Tokens cannot be sent to %s, which takes text: set Request.Text, or Config.Chat to false", e.route.Path)
	case r.Tokens == nil && r.Text == "":
		bad("Request has no prompt: set Tokens or Text")
	case r.Tokens != nil && len(r.Tokens) == 0:
		bad("Request.Tokens is empty: it needs at least one id")
	}
	for i, id := range r.Tokens {
		if id < 0 {
			bad("Request.Tokens[%d] must not be negative, got %d", i, id)
			break
		}
	}
	if r.MaxTokens <= 0 {
		bad("Request.MaxTokens must be positive, got %d", r.MaxTokens)
	}
	if r.MinTokens < 0 || r.MinTokens > r.MaxTokens {
		bad("Request.MinTokens must be from 0 to MaxTokens, which is %d, got %d", r.MaxTokens, r.MinTokens)
	}
	if !(r.Temperature >= 0) || math.IsInf(r.Temperature, 0) {
		bad("Request.Temperature must be a number from 0 on, got %v", r.Temperature)
	}
	if strings.ContainsFunc(r.ID, func(c rune) bool { return c < ' ' || c > '~' }) {
		bad("Request.ID must be printable ASCII, got %q", r.ID)
	}
	if len(wrong) == 0 {
		return nil
	}
	return &engines.Error{Class: engines.Misuse, Message: "openai: " + strings.Join(wrong, "; ")}
}

// body is the JSON of a request in a form.
func (e *Engine) body(r *engines.Request, f *form) []byte {
	b := make([]byte, 0, 256+len(e.extra)+6*len(r.Tokens)+len(r.Text)+len(r.Text)/8)
	b = append(b, '{')
	if e.model != "" {
		b = append(b, `"model":`...)
		b = appendText(b, e.model)
		b = append(b, ',')
	}
	switch {
	case e.cfg.Chat:
		b = append(b, `"messages":[{"role":"user","content":`...)
		b = appendText(b, r.Text)
		b = append(b, `}]`...)
	case r.Tokens != nil:
		b = append(b, `"prompt":[`...)
		for i, id := range r.Tokens {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(id), 10)
		}
		b = append(b, ']')
	default:
		b = append(b, `"prompt":`...)
		b = appendText(b, r.Text)
	}
	b = append(b, `,"stream":true`...)
	if f.sends("max_tokens") {
		b = appendInt(b, `,"max_tokens":`, r.MaxTokens)
	}
	if f.sends("max_completion_tokens") {
		b = appendInt(b, `,"max_completion_tokens":`, r.MaxTokens)
	}
	b = append(b, `,"temperature":`...)
	b = strconv.AppendFloat(b, r.Temperature, 'f', -1, 64)
	if r.MinTokens > 0 && f.sends("min_tokens") {
		b = appendInt(b, `,"min_tokens":`, r.MinTokens)
	}
	if r.IgnoreEOS && f.sends("ignore_eos") {
		b = append(b, `,"ignore_eos":true`...)
	}
	if f.sends("stream_options") {
		b = append(b, `,"stream_options":{"include_usage":true`...)
		if f.sends("continuous_usage_stats") {
			b = append(b, `,"continuous_usage_stats":true`...)
		}
		b = append(b, '}')
	}
	if f.sends("return_token_ids") {
		b = append(b, `,"return_token_ids":true`...)
	}
	if r.CacheSalt != "" {
		b = append(b, `,"cache_salt":`...)
		b = appendText(b, r.CacheSalt)
	}
	b = append(b, e.extra...)
	return append(b, '}')
}

func appendInt(b []byte, name string, n int) []byte {
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	raw, _ := json.Marshal(s) // a string cannot fail
	return append(b, raw...)
}
