package assert

import (
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

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
			// What was never let go has no time of that, and neither has it one of
			// its end, as what was cut on its way has.
			if t.Released > t.Scheduled || t.Failure == metric.Unfinished && t.Sent == 0 && t.Closed == 0 {
				h.back++
			}
		}
	}
	return h
}

// most reports that the limit held back half of the requests or more: the queue is
// then the limit's. Fewer are what any burst meets, and leave it the engine's.
func (h backlogged) most() bool { return h.back > 0 && 2*h.back >= h.all }

// over is what a growing queue is over. With most requests held back what was served
// is no capacity of the engine's, which had at most so many at once.
func (h backlogged) over(growing string) string {
	if !h.most() {
		return growing
	}
	return strings.Replace(growing, "over capacity", "over what "+h.limit+" in flight come to", 1)
}

// explain adds how many were held back, and of most of them that the queue is on
// this side, and what to do.
func (h backlogged) explain(r *report) {
	if h.back == 0 {
		return
	}
	const words = "Point.ClientLimit lets %s be in flight, and held back %s of %s requests"
	if !h.most() {
		r.add("limit", words, h.limit, count(h.back), count(h.all))
		return
	}
	r.add("limit", words+": the queue is on this side, and cannot be told apart from one of the engine's", h.limit, count(h.back), count(h.all))
	r.add("next", "raise Point.ClientLimit, or remove it, to see whether the engine keeps up; or offer less")
}
