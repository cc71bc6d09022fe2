package sim

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// ended turns a sequence that has ended into what its client would have seen.
func (m *Model) ended(q *sequence) {
	reply := engines.Reply{Status: 200}
	var err error
	fail := func(class engines.Class, format string, args ...any) {
		err = &engines.Error{Class: class, Status: reply.Status, Message: fmt.Sprintf(format, args...)}
	}
	switch q.fate {
	case refused:
		reply.Status = q.status
		err = &engines.Error{Class: engines.Refused, Status: q.status, RetryAfter: time.Second, Message: fmt.Sprintf("generate: status %d: %s", q.status, refusal)}
	case failed:
		reply.Status = 500
		fail(engines.Status, "generate: status 500: %s", internalError)
	case streamError:
		fail(engines.ServerError, "generate: error in the stream: %s", internalError)
	case cut:
		fail(engines.Truncated, "generate: the stream ended after %d tokens without a terminal event", q.before)
	case reset:
		fail(engines.Reset, "generate: the connection was reset after %d tokens", q.before)
	case canceled:
		fail(engines.Canceled, "generate: canceled")
	}
	if q.state == ended && q.fate == finished {
		reply.Finish = q.reason
		if !m.cfg.Faults.NoUsage {
			reply.PromptTokens, reply.OutputTokens = engines.Known(q.prompt), engines.Known(q.want)
			if !m.cfg.Faults.HideCached {
				reply.CachedTokens = engines.Known(q.hit)
			}
		}
	}
	m.report(q, reply, err)
}

// report hands an outcome over and takes the sequence back.
func (m *Model) report(q *sequence, reply engines.Reply, err error) {
	m.events++
	reply.Sent, reply.Closed = q.arrival-m.offset, q.last-m.offset
	chunks := m.stream(q)
	if len(chunks) > 0 {
		reply.FirstEvent, reply.Model = chunks[0].At, m.cfg.answerModel()
		if err != nil && !m.cfg.Faults.NoUsage {
			reply.PromptTokens, reply.OutputTokens = engines.Known(q.prompt), engines.Known(q.before)
		}
	}
	m.tell(engines.Outcome{Request: q.request, Reply: reply, Err: err, Chunks: chunks})
	q.request = nil
	m.spare = append(m.spare, q)
}

// tell calls the driver, which may call the model back.
func (m *Model) tell(o engines.Outcome) {
	if m.out != nil {
		m.mu.Unlock()
		defer m.mu.Lock()
		m.out(o)
	}
}

// stream is the events of a sequence's tokens, in a buffer that the next call
// uses again: steps are regular, so that an event is one time to copy.
func (m *Model) stream(q *sequence) []engines.Chunk {
	f := &m.cfg.Faults
	tokens := engines.Known(1)
	if f.NoUsage {
		tokens = engines.Count{}
	}
	token := engines.Chunk{Token: true, Content: true, Tokens: tokens}
	for len(m.chunks) <= q.before {
		m.chunks = append(m.chunks, token)
	}
	m.chunks[m.counts] = token
	m.counts = q.before
	n := 0
	for _, seg := range q.segments {
		for _, at := range m.s.ends.of(seg.from, seg.n) {
			m.chunks[n].At = at - m.offset
			n++
		}
	}
	chunks := m.chunks[:n]
	if f.Buffered {
		for i := range chunks {
			chunks[i].At = q.last - m.offset
		}
	}
	if f.TokensPerEvent > 1 {
		chunks = bundle(chunks, f.TokensPerEvent)
	}
	if n > 0 && q.fate == finished && !f.NoUsage {
		chunks = append(chunks, engines.Chunk{At: q.last - m.offset}) // the counts
	}
	return chunks
}

// bundle makes events of several tokens: the first token goes at once, the
// rest when there are enough or no more.
func bundle(each []engines.Chunk, size int) []engines.Chunk {
	var events []engines.Chunk
	sent := 0
	for i := range each {
		if made := i + 1; eventDue(sent, made, size) || made == len(each) {
			c := each[i]
			if c.Tokens.Known {
				c.Tokens.N = made - sent
			}
			events = append(events, c)
			sent = made
		}
	}
	return events
}

// eventDue reports whether a stream that has sent some of the tokens made
// sends an event, when events are to carry size tokens.
func eventDue(sent, made, size int) bool {
	return made > 0 && (sent == 0 || made-sent >= max(1, size))
}
