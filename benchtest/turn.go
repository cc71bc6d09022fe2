package benchtest

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// turn makes one run of one arm, and sees that the other is idle meanwhile. Nothing
// is known of one that has not begun: a page of metrics that is kept for a while may
// tell late of whatever used its server before. The first turn is followed by its
// own, in which one server behind both is seen all the same.
func (b *both) turn(ctx context.Context, s *session, i, n, starts int) error {
	idle := b.control
	if s == b.control {
		idle = b.candidate
	}
	before := readEdge(ctx, idle.engine).counters
	s.elapsed = max(s.elapsed, idle.elapsed) // one clock, where time is computed
	made := len(s.runs.Records)
	if err := s.one(ctx, i, n, starts); err != nil {
		return err
	}
	var used int
	for _, r := range s.runs.Records[made:] {
		for k := range r.Requests {
			if t := &r.Requests[k]; t.Failure == "" {
				used += max(t.PromptTokens, 0)
			}
		}
	}
	if idle.start == nil {
		return nil
	}
	if others := idle.meanwhile(before, readEdge(ctx, idle.engine).counters, used); others > 0 {
		return fmt.Errorf("benchtest: the %s served %d prompt tokens while only the %s was measured: both are the same server, or something else uses it: give each arm a server of its own", idle.arm, others, s.arm)
	}
	return nil
}

// meanwhile is how many prompt tokens this arm has served of others', at least,
// between two readings while it was idle and the other used so many; 0 is none
// that is sure. A page of metrics that is kept for a while tells late of this
// arm's own requests before. Where nobody knows how much that may be (of prompts
// whose length was not told, and of what was preempted and computed again) only as
// much as the other used is sure.
func (s *session) meanwhile(before, after engines.Counters, used int) int {
	if !before.PromptTokens.Known || !after.PromptTokens.Known {
		return 0
	}
	l := &s.start.ledger
	grown := after.PromptTokens.N - before.PromptTokens.N - l.untold(before.PromptTokens)
	known := before.Preemptions == after.Preemptions && l.sure.unasked == 0 && l.loose.unasked == 0
	if !known && (used == 0 || grown < used) {
		return 0
	}
	return max(grown, 0)
}

// untold is how many prompt tokens of this side's requests a reading lacks, at
// most.
func (l *ledger) untold(now engines.Count) int {
	own, quiet := l.sure.prompt+l.loose.prompt, l.quiet.PromptTokens
	if !quiet.Known || now.N < quiet.N {
		return own
	}
	return max(0, own-(now.N-quiet.N))
}
