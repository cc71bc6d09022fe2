package enginetest

import (
	"time"

	"github.com/openloop-go/openloop/engines"
)

// simulate: every arrival is served once, after it was due, with ordered
// times, before Simulate returns.
func (s *suite) simulate() {
	e, ok := s.engine.(engines.Simulator)
	if !ok {
		return
	}
	due := map[*engines.Request]time.Duration{}
	var order []*engines.Request
	for i := range s.o.Concurrent {
		r := s.request(s.o.Prompt, s.o.Output+i)
		r.Stamp = nil
		due[r] = time.Second + time.Duration(i/2)*time.Millisecond // two at once
		order = append(order, r)
	}
	ends := map[*engines.Request]int{}
	e.Simulate(func(yield func(engines.Arrival) bool) {
		for _, r := range order {
			if !yield(engines.Arrival{At: due[r], Request: r}) {
				return
			}
		}
	}, func(o engines.Outcome) {
		ends[o.Request]++
		at, asked := due[o.Request]
		if !asked {
			s.wrong("simulate", "an outcome of a request that never arrived")
			return
		}
		w := &watch{request: o.Request, before: at, after: o.Reply.Closed, reply: o.Reply, err: o.Err, chunks: o.Chunks}
		if o.Err != nil {
			s.typed("simulate", w)
			s.wrong("simulate", "%s failed: %v", o.Request.ID, o.Err)
			return
		}
		s.judge("simulate", w)
	})
	for _, r := range order {
		if ends[r] != 1 {
			s.wrong("simulate", "%s ended %d times, want once", r.ID, ends[r])
		}
	}
}
