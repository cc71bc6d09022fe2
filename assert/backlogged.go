package assert

import "github.com/openloop-go/openloop/benchtest/metric"

// backlogged is what a limit on the client's side did to the load: the number of
// requests that it lets be in flight, "" without one, and how many of the windows'
// requests it held back, of all.
type backlogged struct {
	limit     string
	back, all int
}

func heldBack(records []*metric.Record) backlogged {
	h := backlogged{limit: pair(records[0], "client-limit")}
	if h.limit == "" {
		return h
	}
	for _, r := range records {
		for _, t := range r.Counted() {
			h.all++
			if t.HeldBack() {
				h.back++
			}
		}
	}
	return h
}

// explain adds how many were held back, and where the queue is here, on this side,
// that it is, and what to do.
func (h backlogged) explain(r *report, here bool) {
	if h.back == 0 {
		return
	}
	const words = "Point.ClientLimit lets %s be in flight, and held back %s of %s requests"
	if !here {
		r.add("limit", words, h.limit, count(h.back), count(h.all))
		return
	}
	r.add("limit", words+": the queue is on this side, and cannot be told apart from one of the engine's", h.limit, count(h.back), count(h.all))
	r.add("next", "raise Point.ClientLimit, or remove it, to see whether the engine keeps up; or offer less")
}
