package doctor

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// primed is a prompt that was sent twice, and what the cache served of it.
type primed struct {
	request       *engines.Request
	prompt        int // its tokens
	first, second served
	err           error
}

// served is how many prompt tokens a cache served: by the reply, and by the
// engine's counter.
type served struct{ reply, counter engines.Count }

// best is the reply's count, else the counter's.
func (s served) best() engines.Count {
	if s.reply.Known {
		return s.reply
	}
	return s.counter
}

// some reports that more came from the cache than chance and templates leave:
// one token in a hundred.
func some(n engines.Count, of int) bool { return n.Known && n.N > max(1, of/100) }

// cache looks whether coldness can be proved, and whether the cache can be
// emptied: a prompt is sent twice, the cache flushed, and the prompt sent
// again.
func (v *visit) cache() bool {
	p := v.prime(cachePrompt)
	if passing(p.err) { // which is a finding of its own
		p = v.prime(cachePrompt)
	}
	if p.err == nil && !some(p.second.best(), p.prompt) && v.fit(largePrompt, outputTokens) > cachePrompt {
		// Blocks may be large.
		if larger := v.prime(v.fit(largePrompt, outputTokens)); larger.err == nil {
			p = larger
		}
	}
	if v.ctx.Err() != nil {
		return false
	}
	if p.err != nil {
		v.say("cached-tokens", Unknown, "", "a generation failed: %s", v.words(p.err))
		v.say("flush", Unknown, "", "not tried")
		return true
	}
	v.hit = some(p.second.best(), p.prompt)
	v.cachedTokens(p)
	if !v.flush(p) {
		v.salt(p)
	}
	return v.ctx.Err() == nil
}

// prime sends a new prompt twice.
func (v *visit) prime(tokens int) primed {
	p := primed{request: v.request(v.fit(tokens, outputTokens), fewTokens)}
	if p.first, p.prompt, p.err = v.serve(v.generate, v.warm, p.request); p.err == nil {
		p.second, _, p.err = v.serve(v.generate, v.warm, v.again(p.request))
	}
	return p
}

// serve makes a generation, by generate or attempt, and tells what of its
// prompt, of how many tokens, the cache served.
func (v *visit) serve(by func(engines.Engine, *engines.Request) *generation, e engines.Engine, r *engines.Request) (s served, prompt int, err error) {
	before := v.scrape()
	g := by(e, r)
	if g.err != nil && classOf(g.err) != engines.NoToken { // which says what was cached all the same
		return s, 0, g.err
	}
	s.reply = g.reply.CachedTokens
	prompt = len(r.Tokens)
	if g.reply.PromptTokens.Known {
		prompt = g.reply.PromptTokens.N
	}
	if !s.reply.Known && before.CacheHits.Known {
		var after engines.Counters
		v.until(time.Second, func() bool {
			after = v.scrape()
			return !after.PromptTokens.Known || !before.PromptTokens.Known || after.PromptTokens.N >= before.PromptTokens.N+prompt
		})
		if after.CacheHits.Known {
			s.counter = engines.Known(max(0, after.CacheHits.N-before.CacheHits.N))
		}
	}
	return s, prompt, nil
}

// cachedTokens: whether replies tell what the cache served, which proves a run
// cold.
func (v *visit) cachedTokens(p primed) {
	const name = "cached-tokens"
	first, second := p.first.best(), p.second.best()
	seen := fmt.Sprintf("%d of %d prompt tokens at the first sending, %d at the second", first.N, p.prompt, second.N)
	switch {
	case some(first, p.prompt) && p.request.Tokens != nil && p.first.reply.Known:
		v.say(name, Fault, "the number cannot be right: find out who counts", "%s, of a prompt never sent before", seen)
	case !second.Known:
		v.say(name, Warn, cachedRemedy(v.report.Kind), "neither replies nor counters tell what the cache serves: nothing shows whether a run was cold")
	case !p.second.reply.Known:
		v.say(name, Warn, cachedRemedy(v.report.Kind), "replies do not tell them; the counters do: %s", seen)
	case !some(second, p.prompt):
		v.say(name, OK, "", "%s: nothing is cached, or only longer prompts are", seen)
	default:
		v.say(name, OK, "", "%s", seen)
	}
}

func cachedRemedy(kind string) string {
	switch kind {
	case "vllm":
		return "start the server with --enable-prompt-tokens-details"
	case "sglang":
		return "start the server with --enable-cache-report"
	case "llamacpp":
		return "update the server: replies of newer ones tell timings.cache_n"
	}
	return "have the server tell usage.prompt_tokens_details.cached_tokens; until then a point that asks for a proved cold cache is invalid"
}
