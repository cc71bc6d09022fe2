package sim

import (
	"math"
	"strconv"
)

// running writes the usage so far into an event, where it was asked for.
func (v *voice) running(tokens int) {
	switch {
	case v.ask.StreamOptions.ContinuousUsage:
		v.add(`,"usage":`)
		v.counts(tokens)
		switch {
		case v.flavor == SGLang && v.chat && !v.hide:
			v.cached()
			v.add(`},"reasoning_tokens":0,"completion_tokens_details":null`)
		case v.flavor == SGLang:
			v.add(`,"prompt_tokens_details":null,"reasoning_tokens":0,"completion_tokens_details":null`)
		case v.flavor == VLLM && v.chat:
			v.add(`,"completion_tokens_details":null`)
		}
		v.add(`}`)
	case v.flavor == SGLang && !v.chat:
		v.add(`,"usage":null`)
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

// cached begins the details of the prompt's tokens.
func (v *voice) cached() {
	v.add(`,"prompt_tokens_details":{"cached_tokens":`)
	v.buf = strconv.AppendInt(v.buf, int64(v.q.hit), 10)
}

// usage writes the last event's counts, where they were asked for.
func (v *voice) usage() {
	if !v.ask.StreamOptions.IncludeUsage {
		return
	}
	v.begin()
	v.add(`],"usage":`)
	v.counts(v.sent)
	switch {
	case !v.hide:
		v.cached()
		if v.flavor == VLLM && v.chat {
			v.add(`,"created_cache_tokens":`)
			v.buf = strconv.AppendInt(v.buf, int64(v.q.prompt/v.q.size*v.q.size-v.q.hit), 10)
		}
		v.add(`}`)
	case v.flavor == SGLang && v.chat:
		v.add(`,"prompt_tokens_details":null`)
	}
	if v.flavor == SGLang {
		v.add(`,"reasoning_tokens":0`)
		if v.chat {
			v.add(`,"completion_tokens_details":null`)
		}
	}
	v.add(`}`)
	v.fingerprint()
	v.end()
}
