package assert

import (
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// held is what a limit on the client's side did to the load: the number of
// requests that it lets be in flight, "" without one, and how many of the windows'
// requests it held back, of all.
type held struct {
	limit     string
	back, all int
}

func heldBack(records []*metric.Record) held {
	h := held{limit: pair(records[0], "client-limit")}
	if h.limit == "" {
		return h
	}
	for _, r := range records {
		for _, t := range r.Counted() {
			h.all++
			// What never left it has no time of that.
			if t.Released > t.Scheduled || t.Failure == metric.Unfinished && t.Sent == 0 {
				h.back++
			}
		}
	}
	return h
}

// over is what a growing queue is over. With requests held back what was served is
// no capacity of the engine's, which had at most so many at once.
func (h held) over(growing string) string {
	if h.back == 0 {
		return growing
	}
	return strings.Replace(growing, "over capacity", "over what "+h.limit+" in flight come to", 1)
}

// explain adds that the queue is on this side, and what to do.
func (h held) explain(r *report) {
	r.add("limit", "Point.ClientLimit lets %s be in flight, and held back %s of %s requests: the queue is on this side, and cannot be told apart from one of the engine's", h.limit, count(h.back), count(h.all))
	r.add("next", "raise Point.ClientLimit, or remove it, to see whether the engine keeps up; or offer less")
}
