package benchtest

import (
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// mostAgain bounds how many runs of a measurement are made again.
const mostAgain = 2

// again is what is known of runs that were made again.
type again struct {
	// last is the number of the run that was, from 1; 0 is none.
	last int
	// lasts: what made it invalid did so a second time.
	lasts bool
}

// passing reports whether a run is to be set aside and made again: it is invalid
// only because this host was late, which may pass; it has not been made again
// already; and there is time. It reads no latency of the engine's, no time that the
// server took to accept a connection, and no metric: which runs count must not
// depend on what they show.
func (s *session) passing(r *metric.Record, n int) bool {
	switch {
	case !s.options.Again || s.virtual || r.Valid() || !onlyLate(r) || s.again.lasts:
		return false
	case s.again.last == r.Run+1:
		s.again.lasts = true
		return false
	case len(s.runs.Replaced) >= mostAgain:
		return false
	}
	if err := s.inTimeFor(n); err != nil {
		s.logf("%s %d is not made again: %s", s.word(), r.Run+1, strings.TrimPrefix(err.Error(), "benchtest: "))
		return false
	}
	return true
}

// onlyLate reports that a run's problems are all of a client that was late. One
// that had no descriptor or port for a request will have none the next time.
func onlyLate(r *metric.Record) bool {
	for _, p := range r.Problems {
		if p.Kind != kindClient {
			return false
		}
	}
	return !hostRanOut(r)
}

// setAside keeps an invalid run apart from those that count. The one in its
// place has the same arrivals and lengths, and no prompt of it.
func (s *session) setAside(r *metric.Record, n int) error {
	s.runs.Replaced = append(s.runs.Replaced, r)
	err := s.store.appendReplaced(r)
	s.report(r, n)
	if err != nil {
		return err
	}
	s.again.last = r.Run + 1
	s.start.nonce = derive("again", s.start.nonce)
	kept := ""
	if s.store != nil {
		kept = ": its record is kept in " + s.store.replaced
	}
	s.logf("%s %d is made again, since this host was late, which may pass (%d of at most %s)%s", s.word(), r.Run+1, len(s.runs.Replaced), many(mostAgain, "run"), kept)
	return nil
}
