package arrival

import (
	"math"
	"sort"
	"time"
)

// piece is a stretch of time over which the rate goes in a straight line from
// from to to, in arrivals a second. The last piece of a profile is constant
// and has no end.
type piece struct {
	from, to float64
	length   time.Duration

	start time.Duration // when it begins
	base  count         // Λ there
}

// arrivals is the expected number of arrivals over the first t seconds of the
// piece: from·t + (to − from)·t²/(2·length).
func (p piece) arrivals(t float64) float64 {
	if p.from == p.to {
		return float64(p.from * t)
	}
	return float64(p.from*t) + float64((p.to-p.from)*t*t/(2*p.length.Seconds()))
}

// inverse is the time, in seconds from the piece's start, by which n arrivals
// are expected: the positive root of a·t²/2 + from·t = n with the slope
// a = (to − from)/length, in the form 2n/(from + √(from² + 2an)), which loses
// no digits when a is small or from is large.
func (p piece) inverse(n float64) float64 {
	if n == 0 {
		return 0 // also where from is 0, whose quotient would be 0/0
	}
	a := (p.to - p.from) / p.length.Seconds()
	root := math.Sqrt(max(0, float64(p.from*p.from)+float64(2*a*n)))
	return 2 * n / (p.from + root)
}

// profile is a rate as a function of time.
type profile []piece

func newProfile(pieces []piece) profile {
	var start time.Duration
	var base count
	for i := range pieces {
		p := &pieces[i]
		p.start, p.base = start, base
		start += p.length
		base = base.add(newCount(p.arrivals(p.length.Seconds())))
	}
	return pieces
}

// inverse is Λ⁻¹(n), to the nearest nanosecond.
func (p profile) inverse(n count) (time.Duration, bool) {
	// The last piece that has begun by then. A pause is empty: its Λ is that
	// of the piece after it, and never the last one that has begun.
	i := sort.Search(len(p), func(i int) bool { return n.less(p[i].base) }) - 1
	piece, rest := p[i], n.sub(p[i].base)
	var t time.Duration
	ok := true
	if piece.from == piece.to {
		t, ok = rest.at(piece.from)
	} else {
		t = time.Duration(math.Round(piece.inverse(rest.float()) * 1e9))
	}
	t += piece.start
	return t, ok && t >= piece.start
}

// expected is Λ(t).
func (p profile) expected(t time.Duration) float64 {
	i := sort.Search(len(p), func(i int) bool { return t < p[i].start }) - 1
	if i < 0 {
		return 0
	}
	return p[i].base.float() + p[i].arrivals((t - p[i].start).Seconds())
}

func (p profile) mean(over time.Duration) float64 {
	if len(p) == 0 {
		return 0
	}
	if over <= 0 {
		return p[0].from
	}
	return p.expected(over) / over.Seconds()
}
