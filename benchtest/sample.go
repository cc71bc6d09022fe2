package benchtest

import (
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// sample takes note of how long the engine takes for one request alone: the
// least of what was seen.
func (st *engineStart) sample(t metric.Timeline) {
	st.answered = t
	// Not the service TTFT: it has the wait for a connection in it, which later
	// requests find open.
	if first := t.FirstToken - t.Sent; t.FirstToken > 0 && t.Sent > 0 && (st.first == 0 || first < st.first) {
		st.first = first
	}
	if next, ok := t.TPOT(); ok && (st.next == 0 || next < st.next) {
		st.next = next
	}
}

// takes is how long the engine takes for a request alone, at least.
func (st *engineStart) takes(r *engines.Request) time.Duration {
	tokens := max(r.MinTokens, 1)
	if r.IgnoreEOS {
		tokens = r.MaxTokens
	}
	return max(st.first+time.Duration(tokens-1)*st.next, 1)
}
