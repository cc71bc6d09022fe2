package doctor

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines"
)

const flushing = "flush"

// flush asks for a flush and sends a prompt again that the cache had. It
// returns true where the cache is emptied, or requests need no flush.
func (v *visit) flush(p primed) bool {
	cold := v.report.Kind == "llamacpp" && v.refuses(p)
	if v.cfg.KeepCache {
		v.say(flushing, Unknown, "", "not tried: the cache was to be kept")
		return cold
	}
	f, err := v.askFlush()
	switch {
	case v.ctx.Err() != nil:
		return true
	case err != nil:
		v.say(flushing, Warn, "runs carry a cache salt instead, and prompts never sent before", "%s", v.words(err))
		return cold
	case f.Outcome != engines.FlushUnsupported && f.Outcome != engines.FlushRefused:
		return v.emptied(p, f) || cold
	case cold:
		v.say(flushing, OK, "", "%s (%s), and not needed: requests refuse the cache", f.Outcome, f.Detail)
		return true
	}
	fallback := "; until then runs carry a cache salt, and prompts never sent before"
	if v.saltless = f.Saltless; v.saltless {
		fallback = "; until then runs rest on prompts never sent before, and carry no cache salt"
	}
	v.say(flushing, Warn, f.Remedy+fallback, "%s: %s", f.Outcome, f.Detail)
	return false
}

// askFlush asks for a flush, again while it is refused: a server may not have
// noticed yet that it is idle.
func (v *visit) askFlush() (f engines.Flush, err error) {
	flusher, ok := v.warm.(engines.Flusher)
	if !ok {
		return engines.Flush{
			Outcome: engines.FlushUnsupported, Detail: "a server of this kind has none that is known",
			Remedy: "attach to the server itself, if it is of a known kind",
		}, nil
	}
	v.until(5*time.Second, func() bool {
		f, err = flusher.Flush(v.ctx)
		if classOf(err) == engines.Stale {
			return false // the client's own mishap
		}
		return err != nil || f.Outcome != engines.FlushRefused
	})
	return f, err
}

// emptied sends the prompt a third time, after a flush that is said, or may
// be thought, to have succeeded.
func (v *visit) emptied(p primed, f engines.Flush) bool {
	said := fmt.Sprintf("%s (%s)", f.Outcome, f.Detail)
	third, _, err := v.serve(v.generate, v.warm, v.again(p.request))
	if passing(err) { // which is a finding of its own
		third, _, err = v.serve(v.generate, v.warm, v.again(p.request))
	}
	second, now := p.second.best(), third.best()
	switch {
	case v.ctx.Err() != nil:
		return true
	case err != nil:
		v.say(flushing, Unknown, "", "%s; the generation after it failed: %s", said, v.words(err))
	case some(now, p.prompt) && f.Outcome == engines.Flushed:
		v.say(flushing, Fault, "it lies: a tier behind the cache may survive it (KV connector, CPU offload), or a gateway may ask another server; restart the server between runs, or measure with prompts never sent before and see cached-tokens",
			"%s, and then the cache still served %d of %d tokens of a prompt sent before", said, now.N, p.prompt)
	case some(now, p.prompt):
		v.say(flushing, Warn, f.Remedy, "%s, and then the cache still served %d of %d tokens of a prompt sent before", said, now.N, p.prompt)
	case !now.Known || !second.Known:
		v.say(flushing, Unknown, cachedRemedy(v.report.Kind), "%s; nothing tells whether the cache is empty", said)
	case !some(second, p.prompt):
		v.say(flushing, Unknown, "", "%s; nothing was cached before, so nothing shows whether it empties", said)
		return f.Outcome == engines.Flushed
	default:
		v.say(flushing, OK, "", "%s; the cache served %d of %d tokens before it, %d after", said, second.N, p.prompt, now.N)
		return f.Outcome == engines.Flushed
	}
	return false
}

// refuses looks whether requests of llama.cpp that say so are served nothing
// from the cache.
func (v *visit) refuses(p primed) bool {
	const name = "cold-requests"
	s, _, err := v.serve(v.generate, v.engine, v.again(p.request))
	switch n := s.best(); {
	case v.ctx.Err() != nil:
	case err != nil:
		v.say(name, Unknown, "", "a generation failed: %s", v.words(err))
	case !n.Known:
		v.say(name, Unknown, cachedRemedy(v.report.Kind), "nothing tells what the cache served")
	case some(n, p.prompt):
		v.say(name, Fault, "start the server with --no-cache-prompt and --cache-ram 0", "a request that refuses the cache was served %d of %d tokens by it", n.N, p.prompt)
	default:
		v.say(name, OK, "", "a request that refuses the cache was served %d of %d tokens by it", n.N, p.prompt)
		return true
	}
	return false
}

// salt looks whether a cache salt, which requests carry where nothing is
// flushed, keeps prompts apart.
func (v *visit) salt(p primed) {
	const name = "cache-salt"
	if v.ctx.Err() != nil {
		return
	}
	const alone = "nothing empties the cache, and nothing keeps prompts apart: measure only with prompts never sent before, which cached-tokens prove"
	if v.saltless {
		v.say(name, Warn, alone, "requests with it are refused, and runs carry none")
		return
	}
	r := v.again(p.request)
	r.CacheSalt = "openloop-doctor"
	s, _, err := v.serve(v.attempt, v.engine, r)
	if passing(err) {
		// Perhaps not for the salt: it is tried again, and then without.
		first := err
		if s, _, err = v.serve(v.attempt, v.engine, v.again(r)); err == nil {
			v.fail(first)
		} else if _, _, bare := v.serve(v.generate, v.engine, v.again(p.request)); bare != nil && v.ctx.Err() == nil {
			v.say(name, Unknown, lookAgain, "a request with it fails, and so does one without it: %s", v.words(bare))
			return
		}
	}
	switch n := s.best(); {
	case v.ctx.Err() != nil:
	case err != nil:
		v.say(name, Fault, "have the server take the field cache_salt, or flush: without a flush every request of a run carries it", "a request with it fails: %s", v.words(err))
	case !n.Known || !some(p.second.best(), p.prompt):
		v.say(name, Unknown, "", "it is taken; nothing tells whether it keeps prompts apart")
	case some(n, p.prompt):
		v.say(name, Warn, alone, "it is taken, and the cache still served %d of %d tokens of a prompt sent without it", n.N, p.prompt)
	default:
		v.say(name, OK, "", "it keeps prompts apart: the cache served %d of %d tokens of a prompt sent without it", n.N, p.prompt)
	}
}
