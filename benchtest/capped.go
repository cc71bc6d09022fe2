package benchtest

import "github.com/openloop-go/openloop/benchtest/metric"

// capped: what the point's MaxInFlight refused was not offered to the engine, in
// the window or beside it.
func (j *judge) capped(s sent) {
	const remedy = "lower the load or raise Point.MaxInFlight"
	switch achieved, known := s.achieved(j.r, j.p); {
	case s.capped == 0:
		if n, of := cappedOutside(j.r); n > 0 {
			j.problem(kindCapped, "%d of %s outside the window were not sent because %d were in flight: %s", n, many(of, "request"), j.p.MaxInFlight, remedy)
		}
	case known:
		j.problem(kindCapped, "%d of %d requests were not sent because %d were in flight, and achieved ÷ offered is %.3f: %s", s.capped, s.planned, j.p.MaxInFlight, achieved, remedy)
	default:
		j.problem(kindCapped, "%d of %d requests were not sent because %d were in flight: %s", s.capped, s.planned, j.p.MaxInFlight, remedy)
	}
}

// cappedOutside is how many of the record's requests outside the window were
// refused, and of how many.
func cappedOutside(r *metric.Record) (n, of int) {
	for i := range r.Requests {
		switch t := &r.Requests[i]; {
		case t.Phase == metric.Window:
		case t.Failure == failCapped:
			n++
			of++
		default:
			of++
		}
	}
	return n, of
}
