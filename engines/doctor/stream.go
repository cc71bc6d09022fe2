package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// stream makes the generation that most is read from, and reads from it all
// but its times.
func (v *visit) stream() bool {
	const name = "stream"
	g := v.fresh(counting{v.engine, v}, v.fit(promptTokens, 2*outputTokens), outputTokens)
	if passing(g.err) { // which is a finding of its own
		g = v.fresh(counting{v.engine, v}, v.fit(promptTokens, 2*outputTokens), outputTokens)
	}
	v.main = g
	if g.err != nil {
		if v.ctx.Err() == nil {
			v.say(name, Fault, "find out why in the server's log; nothing more can be looked at", "%s", v.words(g.err))
		}
		return false
	}
	v.counted.after(v)
	warnings := departures(g.reply.Warnings)
	if len(warnings) > 0 {
		v.say(name, Warn, "what is missing is said by the findings below", "%s; %s", finished(g), strings.Join(warnings, "; "))
	} else {
		v.say(name, OK, "", "%s", finished(g))
	}
	if got := g.reply.Model; got != "" && got != v.model.ID {
		v.say("model-answering", Fault, "something between here and the server sends requests elsewhere: go round it", "model %q answered a request for %q", got, v.model.ID)
	}
	v.usage(g)
	v.tokenCounts(g)
	v.outputLength(g)
	v.tokensPerEvent(g)
	return v.ctx.Err() == nil
}

// departures are warnings without those that are told elsewhere, and without what
// every host has on its first connection.
func departures(warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(warnings), func(w string) bool {
		return strings.Contains(w, "compressed (") || strings.Contains(w, "look-up of host") && strings.Contains(w, "took 1ms or longer")
	})
}

func finished(g *generation) string {
	return fmt.Sprintf("%s with tokens, finished by %q", plural(g.tokens, "event"), g.reply.Finish)
}

// usage: whether the server counts tokens in streams at all.
func (v *visit) usage(g *generation) {
	const name = "usage"
	running := 0
	for _, c := range g.chunks {
		if c.Token && c.Tokens.Known {
			running++
		}
	}
	out, in := g.reply.OutputTokens, g.reply.PromptTokens
	switch {
	case !out.Known:
		v.say(name, Fault, usageRemedy(v.report.Kind), "the stream tells no number of output tokens: TPOT and the work done are unknown")
	case !in.Known:
		v.say(name, Warn, usageRemedy(v.report.Kind), "the stream tells %d output tokens, but no number of prompt tokens", out.N)
	case running > 0 && running < g.tokens:
		v.say(name, Warn, "gaps between events are not those between tokens; see token-counts and tokens-per-event", "%d prompt and %d output tokens; %d of %s tell theirs", in.N, out.N, running, plural(g.tokens, "event"))
	case running == 0:
		v.say(name, Warn, "tokens of single events are unknown: have the server obey stream_options.continuous_usage_stats", "%d prompt and %d output tokens, told at the end of the stream only", in.N, out.N)
	default:
		v.say(name, OK, "", "%d prompt and %d output tokens, told as the stream goes on", in.N, out.N)
	}
}

func usageRemedy(kind string) string {
	const obey = "have the server obey stream_options.include_usage"
	switch kind {
	case "vllm":
		return obey + " (vLLM: --enable-force-include-usage), and whatever is before it pass it on"
	case "openai":
		return obey + ", or attach to the server behind it"
	}
	return obey + ", and whatever is before it pass it on"
}

// tokenCounts: what is told against what was sent, asked for and returned.
func (v *visit) tokenCounts(g *generation) {
	const name = "token-counts"
	const remedy = "find out who counts (the server, or a gateway before it): every token metric rests on this number"
	var wrong, right []string
	out, in := g.reply.OutputTokens, g.reply.PromptTokens
	asked := g.request.MaxTokens
	if out.Known && out.N > asked {
		wrong = append(wrong, fmt.Sprintf("usage tells %d output tokens where at most %d were asked for", out.N, asked))
	}
	if out.Known && out.N < g.tokens {
		wrong = append(wrong, fmt.Sprintf("usage tells %d output tokens, and %d events carried some", out.N, g.tokens))
	}
	if out.Known && out.N < asked && g.reply.Finish == "length" {
		wrong = append(wrong, fmt.Sprintf("usage tells %d output tokens of a stream that ended at its limit of %d", out.N, asked))
	}
	if sent := len(g.request.Tokens); sent > 0 && in.Known {
		if off := in.N - sent; 50*off > sent || 50*off < -sent {
			wrong = append(wrong, fmt.Sprintf("usage tells %d prompt tokens where %d ids were sent", in.N, sent))
		} else {
			right = append(right, fmt.Sprintf("%d prompt tokens for %d ids sent", in.N, sent))
		}
	}
	returned, told := v.returnedIDs()
	switch {
	case returned.Known && told.Known && returned != told:
		wrong = append(wrong, fmt.Sprintf("usage tells %d output tokens, and %d ids were returned", told.N, returned.N))
	case returned.Known && told.Known:
		right = append(right, fmt.Sprintf("%d output tokens for %d ids returned", told.N, returned.N))
	}
	if grown, ok := v.counted.output(); ok && out.Known && grown == out.N {
		right = append(right, "the server's counter grew by as many")
	}
	switch {
	case len(wrong) > 0:
		v.miscounted = true
		v.say(name, Fault, remedy, "%s", strings.Join(wrong, "; "))
	case !out.Known:
		v.say(name, Unknown, "", "there are none")
	case len(right) == 0:
		v.say(name, Unknown, "", "nothing tells whether %d output tokens are right", out.N)
	default:
		v.say(name, OK, "", "%s", strings.Join(right, "; "))
	}
}

// returnedIDs is the number of token ids that a stream returns when asked to,
// and what its usage tells. Without running usage a count of an event can be
// of ids only.
func (v *visit) returnedIDs() (ids, told engines.Count) {
	cfg := v.cfg.client(v.model.ID, v.form.chat)
	cfg.TokenIDs, cfg.Omit = true, []string{"continuous_usage_stats"}
	e, err := openai.New(cfg)
	if err != nil {
		return ids, told
	}
	defer e.Close()
	g := v.fresh(e, 8, outputTokens/2)
	if g.err != nil {
		return ids, told
	}
	ids.Known = g.tokens > 0
	for _, c := range g.chunks {
		if !c.Token {
			continue
		}
		ids.N += c.Tokens.N
		ids.Known = ids.Known && c.Tokens.Known
	}
	return ids, g.reply.OutputTokens
}

// outputLength: whether the output is as long as asked.
func (v *visit) outputLength(g *generation) {
	const name = "output-length"
	asked, out := g.request.MaxTokens, g.reply.OutputTokens
	switch {
	case !out.Known:
		v.say(name, Unknown, "", "the server does not tell")
	case v.miscounted:
		v.say(name, Unknown, "", "see token-counts")
	case out.N < asked:
		v.say(name, Fault, "have the server, and whatever is before it, obey ignore_eos and min_tokens: outputs of other lengths are other work",
			"%d output tokens of the %d that were asked for with ignore_eos and min_tokens, finished by %q", out.N, asked, g.reply.Finish)
	default:
		v.say(name, OK, "", "%d of %d, with ignore_eos and min_tokens", out.N, asked)
	}
}

// tokensPerEvent: whether gaps between events are those between tokens.
func (v *visit) tokensPerEvent(g *generation) {
	const name = "tokens-per-event"
	const remedy = "TPOT counts tokens and stands; gaps between events are not ITL (vLLM, SGLang: --stream-interval 1; or speculative decoding)"
	most, told := 0, true
	for _, c := range g.chunks {
		if c.Token {
			most, told = max(most, c.Tokens.N), told && c.Tokens.Known
		}
	}
	out := g.reply.OutputTokens
	switch {
	case v.miscounted:
		v.say(name, Unknown, "", "see token-counts")
	case told && most > 1:
		v.say(name, Warn, remedy, "%s in %s, at most %d in one", plural(out.N, "token"), plural(g.tokens, "event"), most)
	case told:
		v.say(name, OK, "", "1 in each of %s", plural(g.tokens, "event"))
	case !out.Known:
		v.say(name, Unknown, "", "the server does not tell")
	case out.N > g.tokens:
		v.say(name, Warn, remedy, "%s in %s; no event tells its own", plural(out.N, "token"), plural(g.tokens, "event"))
	default:
		v.say(name, OK, "", "%s in %s, though no event tells its own", plural(out.N, "token"), plural(g.tokens, "event"))
	}
}
