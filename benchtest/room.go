package benchtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/descriptors"
)

// sampleAgain is how often the engine is asked again for its time where the first
// answer, which may have been slow for being the first, leaves no room.
const sampleAgain = 2

// room refuses, before the load, one whose requests in flight need more
// descriptors than this process may have. A request has a connection, whether
// that is kept or opened for it, and where none can be had requests fail here and
// the engine gets another load.
//
// How many will be in flight follows in a closed loop from the point. In an open
// loop it depends on the engine: what counts is the least, as it would be if
// every request of the schedule took as long as its tokens take the engine while
// it serves nothing else. Engines that open no connections are left alone, and so
// are streams that share one.
func (s *session) room(ctx context.Context) error {
	w, ok := s.engine.(engines.Warmer)
	if !ok || s.virtual || strings.HasPrefix(s.start.answered.Protocol, "HTTP/2") {
		return nil
	}
	planned, err := s.plan.run(0)
	if err != nil || lacking(s.plan.Point.Closed.InFlight+planned.Arrivals+s.plan.Point.Settle) == "" {
		return err // even for all of them at once
	}
	n, words, err := s.inFlight()
	for range sampleAgain {
		if err != nil || lacking(n) == "" {
			return err
		}
		if s.plan.Point.Arrivals == nil {
			break // the point says how many
		}
		s.start.tries++
		if _, failed := s.generateOnce(ctx, s.start.tries); failed != nil {
			break
		}
		n, words, err = s.inFlight()
	}
	if err != nil || lacking(n) == "" {
		return err
	}
	has, err := s.has(ctx, w, n)
	switch {
	case err != nil:
		return fmt.Errorf("benchtest: %s: %w; or lower the load", words, err)
	case has:
		return nil
	}
	return fmt.Errorf("benchtest: %s: %s; or lower the load", words, lacking(n))
}

// has reports whether the engine has n connections open, which then need no
// further descriptors, and opens those that it lacks. An error is that this host
// cannot have so many.
//
// Engines that open none beforehand (for each request has one of its own, or
// there is a proxy) say yes to anything, so that only what opens counts: some of
// the n or, where all of them may be open already, one more than this process has
// open of all kinds.
func (s *session) has(ctx context.Context, w engines.Warmer, n int) (bool, error) {
	_, before := ownDescriptors()
	if err := w.Warm(ctx, n); err != nil {
		return false, ours(err)
	}
	_, open := ownDescriptors()
	if open > before || open < n {
		return open > before, nil
	}
	err := w.Warm(ctx, open+1)
	_, after := ownDescriptors()
	return after > open || ours(err) != nil, nil
}

// ours is an error that is this host's, nil of others.
func ours(err error) error {
	if e := (*engines.Error)(nil); errors.As(err, &e) && e.Class == engines.Client {
		return err
	}
	return nil
}

// ownDescriptors is descriptors.Own; tests put something else here.
var ownDescriptors = descriptors.Own

// lacking says that n more connections need more descriptors than there are;
// empty where they do not, or nothing is known.
func lacking(n int) string {
	limit, open := ownDescriptors()
	if open == 0 {
		return ""
	}
	return descriptors.Need{What: fmt.Sprintf("%d connections", n), More: n, Open: open}.Beyond(limit)
}

// inFlight is how many requests will be in flight at once, at least, with the
// words for it.
func (s *session) inFlight() (n int, words string, err error) {
	p := s.plan.Point
	n = p.Closed.InFlight
	words = fmt.Sprintf("%d requests in flight", n)
	if p.Arrivals != nil {
		if n, err = s.leastInFlight(); err != nil {
			return 0, "", err
		}
		words = fmt.Sprintf("%s has %d requests in flight at once, or more (one alone takes the engine %v to its first token and %v for each further one)",
			p.loadName(), n, brief(s.start.first), brief(s.start.next))
	}
	for _, limit := range []int{p.ClientLimit, p.MaxInFlight} {
		if limit > 0 && limit < n {
			n, words = limit, fmt.Sprintf("%d requests in flight, which the point allows", limit)
		}
	}
	if p.ProbeRate > 0 {
		n++
	}
	return n, words, nil
}

// leastInFlight is the most requests of the first run's settle and window that
// overlap.
func (s *session) leastInFlight() (int, error) {
	planned, err := s.plan.run(0)
	if err != nil {
		return 0, err
	}
	seeds := measuredSeeds(planned.Seed, s.start.nonce)
	var takes []time.Duration
	for i := range sampledTokens {
		r, err := request(s.plan.Point.Workload, i, seeds.shape, seeds.content)
		if err != nil {
			return 0, err
		}
		takes = append(takes, s.start.takes(&r))
	}
	var starts, ends []time.Duration
	for d := range s.plan.schedule(seeds, false).dues() {
		if d.phase == metric.Cooldown {
			break
		}
		starts, ends = append(starts, d.at), append(ends, d.at+takes[d.index%sampledTokens])
	}
	return overlap(starts, ends), nil
}

// overlap is the most intervals that hold one point; each is from a start to an
// end after it.
func overlap(starts, ends []time.Duration) int {
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for i := range starts {
		edges = append(edges, edge{starts[i], 1}, edge{ends[i], -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	n, most := 0, 0
	for _, e := range edges {
		n += e.step
		most = max(most, n)
	}
	return most
}
