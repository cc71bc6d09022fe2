package benchtest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// engineStart is one start of the engine, as far as this measurement is
// concerned.
type engineStart struct {
	number int
	// id tells this start from every other; nonce goes into the content of
	// prompts, so that none is sent twice to one start.
	id    string
	nonce uint64
	// model is the one that answers; instance is the engine's own mark of its
	// start. Empty is unknown.
	model, instance string
	identity        engines.Identity
	warnings        []string
	// peak is the largest number of requests in flight at once so far.
	peak   int
	ledger ledger
	// tries is how often a small generation was asked for, and answered the last
	// of those that came. First is how long the engine took to its first token,
	// and next how long for each further one, at least; 0 is unknown.
	tries       int
	answered    metric.Timeline
	first, next time.Duration
}

// ensureStart has the engine on the given start, restarting it where it is
// not, ready and described.
func (s *session) ensureStart(ctx context.Context, number int) error {
	if s.start != nil && s.start.number == number {
		return nil
	}
	if s.start != nil {
		s.logf("restarting the engine (start %d)", number+1)
		if err := s.engine.(engines.Restarter).Restart(ctx); err != nil {
			return fmt.Errorf("benchtest: restart the engine: %w", err)
		}
		s.lease.restarted()
	}
	s.start = &engineStart{number: number}
	if err := s.identify(ctx); err != nil {
		return err
	}
	return s.ready(ctx)
}

// identify finds out what the engine is and makes the start's nonce and id.
//
// On a real clock the nonce is random. In virtual time it must be the same
// each time, so it is a hash of what the engine says it has served, which
// grows with every measurement and starts afresh with the engine, or, for an
// engine that does not say, of the virtual time.
func (s *session) identify(ctx context.Context) error {
	st := s.start
	if d, ok := s.engine.(engines.Describer); ok {
		identity, err := d.Describe(ctx)
		if err != nil {
			st.warnings = append(st.warnings, fmt.Sprintf("the engine could not be described: %v", err))
		}
		st.identity = identity
	}
	e := readEdge(ctx, s.engine)
	if e.err != nil {
		st.warnings = append(st.warnings, fmt.Sprintf("the engine's counters could not be read: %v", e.err))
	}
	if e.scraped {
		st.ledger.follow(e.counters)
		st.ledger.quiet = e.counters
	}
	st.instance = e.counters.Instance
	st.nonce = s.nonce(e.counters)
	switch {
	case st.instance != "":
		st.id = fmt.Sprintf("%016x", derive("instance "+st.instance))
	case s.lease != nil:
		st.id = s.lease.startID()
	default:
		st.id = fmt.Sprintf("%016x", derive("start", st.nonce, uint64(st.number)))
	}
	return ctx.Err()
}

func (s *session) nonce(c engines.Counters) uint64 {
	switch {
	case !s.virtual:
		return random()
	case c.PromptTokens.Known:
		return derive("served", uint64(c.PromptTokens.N), uint64(c.OutputTokens.N))
	case s.simulator != nil:
		return derive("served", 0, 0)
	}
	return derive("virtual time", uint64(time.Now().UnixNano()))
}

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}
