package doctor

import (
	"fmt"
	"time"
)

const (
	// tooQuick is a stream whose events a busy host may well read at once.
	tooQuick = 50 * time.Millisecond
	// allAtOnce is the share of gaps of nearly nothing above which a run is
	// invalid for its buffered streams, someAtOnce the one from which events
	// come in batches.
	allAtOnce, someAtOnce = 0.9, 0.5
)

// arrivals looks at when events came: whether each came when it was made, or
// all of them at once when the last was.
func (v *visit) arrivals() bool {
	const name = "buffering"
	g := v.main
	if _, whole := g.span(); whole < tooQuick || g.tokens < 4 {
		g = v.fresh(v.engine, v.fit(promptTokens, 16*outputTokens), v.fit(8*outputTokens, promptTokens))
	}
	if g.err != nil {
		v.say(name, Unknown, "", "a longer stream failed: %s", v.words(g.err))
		return v.ctx.Err() == nil
	}
	first, whole := g.span()
	share := atOnce(g.gaps(), whole)
	seen := fmt.Sprintf("%s over %v, the first after %v", plural(g.tokens, "event"), brief(whole), brief(first))
	switch {
	case g.tokens < 4:
		v.say(name, Unknown, "", "a stream has %s: too few to tell", plural(g.tokens, "event"))
	case share > allAtOnce:
		return v.heldBack(g, seen)
	case whole < tooQuick:
		v.say(name, Unknown, "", "%s: too quick to tell", seen)
	case share > someAtOnce:
		v.say(name, Warn, "something on the way passes events on in batches (a proxy's buffer, compression), or this host is too busy to read them in time: gaps between events are not the server's", "%s, and %.0f %% of the gaps between them are nothing", seen, 100*share)
	default:
		v.say(name, OK, "", "%s", seen)
	}
	return v.ctx.Err() == nil
}

// heldBack tells a stream that was held back until its end from a server that
// took long to begin: a longer output to a shorter prompt makes the first later
// still, and spreads the events of the second.
func (v *visit) heldBack(g *generation, seen string) bool {
	const name = "buffering"
	n := v.fit(4*g.request.MaxTokens, outputTokens)
	longer := v.fresh(v.engine, 8, n)
	if longer.err != nil {
		v.say(name, Unknown, "", "a longer stream failed: %s", v.words(longer.err))
		return v.ctx.Err() == nil
	}
	first, _ := g.span()
	later, whole := longer.span()
	seen = fmt.Sprintf("%s; with %s over %v, the first after %v", seen, plural(n, "token"), brief(whole), brief(later))
	together := atOnce(longer.gaps(), whole) > allAtOnce && 10*(whole-later) < whole
	switch grown := 2*later > 3*first; {
	case whole < tooQuick:
		v.say(name, Unknown, "", "%s: too quick to tell", seen)
	case together && (grown || v.idleSeen):
		v.say(name, Fault, "something on the way holds streams back until they are complete (nginx: proxy_buffering off; compression; an API gateway): go round it, or switch it off for text/event-stream",
			"%s: all events come at once, at the end", seen)
	case together:
		v.say(name, Unknown, "look again when nobody else uses the server", "%s: it may be busy, or hold streams back", seen)
	default:
		v.say(name, OK, "", "%s", seen)
	}
	return v.ctx.Err() == nil
}

// atOnce is the share of gaps that are next to nothing beside the time that an
// event takes on average.
func atOnce(gaps []time.Duration, whole time.Duration) float64 {
	if len(gaps) == 0 {
		return 0
	}
	n := 0
	for _, gap := range gaps {
		if gap*10*time.Duration(len(gaps)) < whole {
			n++
		}
	}
	return float64(n) / float64(len(gaps))
}
