package benchtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// flush empties the prefix cache where the point wants it cold, and records
// what came of it. A refusal is asked again until the engine is idle. It
// returns the salt that the run's requests carry, which keeps their cache
// entries apart where nothing was flushed.
//
// A flush is not believed: the run's cached tokens prove it (see Judge).
func (s *session) flush(ctx context.Context, r *metric.Record) (salt string, err error) {
	if s.plan.Point.Cache == Warm {
		return "", nil
	}
	salt = fmt.Sprintf("openloop-%016x", derive("salt", r.Seed, s.start.nonce))
	flusher, ok := s.engine.(engines.Flusher)
	if !ok {
		r.Flush, r.FlushDetail = string(engines.FlushUnsupported), "this engine has no flush; every prompt is new content"
		return salt, nil
	}
	flush, waited, err := s.flushUntil(ctx, flusher)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		r.Flush, r.FlushDetail = string(engines.FlushUnverified), fmt.Sprintf("the server could not be asked: %v", err)
		r.Warnings = append(r.Warnings, "flush: "+r.FlushDetail)
		return salt, nil
	}
	r.Flush, r.FlushDetail = string(flush.Outcome), flush.Detail
	if flush.Outcome == engines.Flushed {
		return "", nil
	}
	if flush.Saltless {
		salt = "" // prompts are new content all the same
	}
	if flush.Outcome == engines.FlushRefused {
		r.FlushDetail = fmt.Sprintf("for %v: %s", brief(waited), r.FlushDetail)
	}
	r.FlushDetail = strings.TrimPrefix(strings.Join([]string{r.FlushDetail, flush.Remedy}, "; "), "; ")
	r.FlushDetail = strings.TrimSuffix(r.FlushDetail, "; ")
	r.Warnings = append(r.Warnings, fmt.Sprintf("flush %s: %s", r.Flush, r.FlushDetail))
	return salt, nil
}

// flushUntil asks until the answer is no refusal, with growing pauses, for at
// most idleLimit.
func (s *session) flushUntil(ctx context.Context, f engines.Flusher) (flush engines.Flush, waited time.Duration, err error) {
	for wait := 250 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		flush, err = f.Flush(ctx)
		wait = min(wait, idleLimit-waited)
		if err != nil || flush.Outcome != engines.FlushRefused || wait <= 0 {
			return flush, waited, err
		}
		waited += wait
		if s.simulator == nil && !sleep(ctx, wait) {
			return flush, waited, err
		}
	}
}
