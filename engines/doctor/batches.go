package doctor

import (
	"fmt"
	"slices"
	"time"
)

// batched is how the token events of a stream came: each by itself, or several
// together.
type batched struct {
	events      int
	first, last time.Duration // from sending to the first event and to the last
	zero        int           // gaps of exactly nothing: one read had both
	together    int           // gaps of next to nothing
	ours        int           // of those, how many this host may have made
	late        time.Duration // how late it read, at most
	head, most  int           // events in the first batch and in the largest
	apart       []time.Duration
	starts      []time.Duration // when the gaps of apart began
}

// nothing is what a gap may last at most to be next to nothing: what was held
// back and is let go comes in as long as it takes to read it.
const nothing = time.Millisecond

// batches tells events that came together by gaps that are short in themselves
// and beside the time that an event takes on average.
func (g *generation) batches() batched {
	var b batched
	b.first, b.last = g.span()
	limit := min(nothing, b.last/time.Duration(10*max(g.tokens, 1)))
	b.late = g.reply.ReadLag
	// What lasted about as long as events do on average, and was lost because
	// this host read late.
	lost := b.last / time.Duration(2*max(g.tokens, 1))
	at, size := b.first, 0
	for _, c := range g.chunks {
		if !c.Token {
			continue
		}
		gap := c.At - g.reply.Sent - at
		at += gap
		switch b.events++; {
		case b.events == 1:
		case gap > limit:
			b.apart, b.starts, size = append(b.apart, gap), append(b.starts, at-gap), 0
		default:
			b.together++
			if gap == 0 {
				b.zero++
			}
			if c.Lost > 0 && c.Lost >= lost {
				b.ours++
			}
		}
		size++
		b.most = max(b.most, size)
		if len(b.apart) == 0 {
			b.head = size
		}
	}
	return b
}

// share is that of the gaps that are next to nothing, sure that of those which
// this host cannot have made, and zeros that of those of exactly nothing, by
// which a run is judged.
func (b *batched) share() float64 { return float64(b.together) / float64(max(b.events-1, 1)) }
func (b *batched) sure() float64  { return float64(b.together-b.ours) / float64(max(b.events-1, 1)) }
func (b *batched) zeros() float64 { return float64(b.zero) / float64(max(b.events-1, 1)) }

// unsure: what this host may have made decides the verdict.
func (b *batched) unsure() bool {
	severity := func(n int) int {
		switch share := float64(n) / float64(max(b.events-1, 1)); {
		case share > allAtOnce:
			return 2
		case share > someAtOnce:
			return 1
		}
		return 0
	}
	return severity(b.together) != severity(b.together-b.ours)
}

// atEnd: all came in the last tenth of the time.
func (b *batched) atEnd() bool { return 10*(b.last-b.first) < b.last }

func (b *batched) String() string {
	return fmt.Sprintf("%s over %v, the first after %v", plural(b.events, "event"), brief(b.last), brief(b.first))
}

// harm is what batches do to a request's metrics. The first event is passed on
// when the last of its batch is there: for the pace d of the events after that
// batch, of h events, TTFT is (h−1)·d too long, and TPOT, which divides their
// time by all n−1 gaps, is (h−1)/(n−1) too short.
func (b *batched) harm() string {
	s := fmt.Sprintf("they come in batches of up to %d (%.1f %% of the gaps between them are nothing)", b.most, 100*b.share())
	switch {
	case b.head == 1:
		return s + ", after the first: TTFT stands, gaps between events do not"
	case len(b.apart) == 0:
		return s + ": TTFT is the whole answer's time, and TPOT nothing, with outputs of this length"
	}
	pace := (b.last - b.first) / time.Duration(b.events-b.head)
	late := time.Duration(b.head-1) * pace
	short := 100 * float64(b.head-1) / float64(b.events-1)
	if late >= b.first {
		return fmt.Sprintf("%s: TTFT is about %v too long, and TPOT %.0f %% too short with outputs of this length", s, brief(late), short)
	}
	return fmt.Sprintf("%s: TTFT is about %v too long (+%.0f %%), and TPOT %.0f %% too short with outputs of this length",
		s, brief(late), 100*float64(late)/float64(b.first-late), short)
}

// pauses are gaps far above what the stream otherwise takes between two events.
func (b *batched) pauses() (long []time.Duration, usual, every time.Duration) {
	if len(b.apart) < 4 {
		return nil, 0, 0
	}
	usual = median(b.apart)
	var starts, between []time.Duration
	for i, gap := range b.apart {
		if gap > 10*usual && gap > usual+pause {
			long, starts = append(long, gap), append(starts, b.starts[i])
		}
	}
	for i := 1; i < len(starts); i++ {
		between = append(between, starts[i]-starts[i-1])
	}
	if len(between) > 0 {
		every = median(between)
	}
	return long, usual, every
}

// pause is by how much a gap that counts as a pause is longer than others: hosts
// that are not quite idle make shorter ones.
const pause = 50 * time.Millisecond

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)/2]
}
