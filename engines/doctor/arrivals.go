package doctor

import (
	"fmt"
	"slices"
	"time"
)

const (
	// tooQuick is a stream whose events a busy host may well read at once.
	tooQuick = 50 * time.Millisecond
	// allAtOnce is the share of gaps of nothing above which a run is invalid for
	// its buffered streams: the default of benchtest's Limits.ZeroGaps. From
	// someAtOnce on events come in batches: in pairs half of the gaps are nothing,
	// and a busy server makes a few so by itself.
	allAtOnce, someAtOnce = 0.9, 0.4
	// againAtOnce is the share from which on a longer stream bears out what a
	// shorter one showed, which may end within a batch: a server that was starved
	// for a moment has fewer the second time.
	againAtOnce = 0.8
)

const buffering = "buffering"

const goRound = "go round it, or switch it off for text/event-stream"

// arrivals looks at when events came: whether each came when it was made, or
// several at once when the last of them was, and whether the engine stops.
func (v *visit) arrivals() bool {
	g := v.main
	if _, whole := g.span(); whole < tooQuick || g.tokens < 4 {
		g = v.fresh(v.engine, v.fit(promptTokens, 16*outputTokens), v.fit(8*outputTokens, promptTokens))
	}
	if g.err != nil {
		return v.noLonger(g)
	}
	b := g.batches()
	for range 2 {
		if !b.unsure() {
			break
		}
		if g = v.fresh(v.engine, v.fit(promptTokens, g.request.MaxTokens), g.request.MaxTokens); g.err != nil {
			return v.noLonger(g)
		}
		b = g.batches()
	}
	switch {
	case b.unsure():
		v.busyHost(fmt.Sprint(&b), b)
	case g.tokens < 4:
		v.say(buffering, Unknown, "", "a stream has %s: too few to tell", plural(g.tokens, "event"))
	case b.share() > allAtOnce:
		return v.heldBack(g, b)
	case b.last < tooQuick:
		v.say(buffering, Unknown, "", "%v: too quick to tell", &b)
	case b.share() > someAtOnce:
		v.say(buffering, Warn, "something on the way passes events on in batches (a proxy's buffer, compression): "+goRound+"; or this host is too busy to read them in time; or the server makes several tokens at a time",
			"%v; %s", &b, b.harm())
	default:
		v.say(buffering, OK, "", "%v", &b)
		return v.stalls(g, b)
	}
	return v.ctx.Err() == nil
}

func (v *visit) noLonger(g *generation) bool {
	if v.ctx.Err() == nil {
		v.say(buffering, Unknown, "", "a longer stream failed: %s", v.words(g.err))
	}
	return v.ctx.Err() == nil
}

// busyHost: this host read too late to tell who made events come together.
func (v *visit) busyHost(seen string, b batched) {
	v.say(buffering, Unknown, "look again when this host has less to do, or from another: a run here would be limited by its client",
		"%s; %d of %d gaps between events are nothing, and %d of those may be this host's, which read up to %v late", seen, b.together, b.events-1, b.ours, brief(b.late))
}

// heldBack looks again where nearly all events came together. A longer output to
// a shorter prompt shows whether they always do; and where all come at the end,
// it makes that later still if they were held back until then, and not if the
// server only took long to begin.
func (v *visit) heldBack(g *generation, b batched) bool {
	n := v.fit(4*g.request.MaxTokens, outputTokens)
	longer := v.fresh(v.engine, 8, n)
	if longer.err != nil {
		return v.noLonger(longer)
	}
	l := longer.batches()
	seen := fmt.Sprintf("%v; with %s over %v, the first after %v", &b, plural(n, "token"), brief(l.last), brief(l.first))
	const holds = "something on the way holds streams back "
	switch ended := l.share() > allAtOnce && l.atEnd(); {
	case l.unsure() && l.sure() <= someAtOnce:
		v.busyHost(seen, l)
	case l.last < tooQuick:
		v.say(buffering, Unknown, "", "%s: too quick to tell", seen)
	case ended && (b.zeros() > allAtOnce || 2*l.first > 3*b.first):
		v.say(buffering, Fault, holds+"until they are complete (nginx: proxy_buffering off; compression; an API gateway): "+goRound,
			"%s: all events come at once, at the end", seen)
	case ended:
		v.say(buffering, Unknown, "", "%s: after the first they are too quick to tell", seen)
	case l.share() > againAtOnce:
		v.say(buffering, Fault, holds+"in part (a proxy's buffer, compression): "+goRound,
			"%v; %s; more than %.0f %% make a run invalid", &b, b.harm(), 100*allAtOnce)
	default:
		v.say(buffering, Warn, "look again when this host has less to do; else find out what holds streams back now and then", "%s: %.0f %% of the gaps of the first are nothing, %.0f %% of the second's", seen, 100*b.share(), 100*l.share())
	}
	return v.ctx.Err() == nil
}

// stalls: whether the engine stops now and then. What looks like it in the
// stream is looked for in a longer one.
func (v *visit) stalls(g *generation, b batched) bool {
	const name = "stalls"
	long, usual, every := b.pauses()
	if len(long) > 0 && g.request.MaxTokens < 8*outputTokens {
		longer := v.fresh(v.engine, v.fit(promptTokens, 16*outputTokens), v.fit(8*outputTokens, promptTokens))
		if longer.err != nil {
			if v.ctx.Err() == nil {
				v.say(name, Unknown, "", "a gap of %v between events, others take %v; a longer stream failed: %s", brief(long[0]), brief(usual), v.words(longer.err))
			}
			return v.ctx.Err() == nil
		}
		b = longer.batches()
		long, usual, every = b.pauses()
	}
	switch {
	case len(b.apart) < 4:
		v.say(name, Unknown, "", "a stream has too few gaps to tell")
	case len(long) > 1:
		remedy := "find out what stops the engine (others on its device, a host that swaps, a task that repeats): E2E latency and the longest gaps hold it, and whether a request meets it is chance"
		if !v.idleSeen {
			remedy = "look again when nobody else uses the server: their prompts may be what it stops for; else " + remedy
		}
		v.say(name, Warn, remedy, "%d pauses of about %v, about every %v, among %d gaps of about %v", len(long), brief(median(long)), brief(every), len(b.apart), brief(usual))
	case len(long) == 1:
		v.say(name, OK, "", "1 pause, of %v, among %d gaps of about %v", brief(long[0]), len(b.apart), brief(usual))
	default:
		v.say(name, OK, "", "half of %d gaps take up to %v, the longest %v", len(b.apart), brief(median(b.apart)), brief(slices.Max(b.apart)))
	}
	return v.ctx.Err() == nil
}
