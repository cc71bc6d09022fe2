package metric

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// SLO is the service-level objective of one request. A zero limit is off; at
// least one must be set. A request is good when it succeeded and every limit
// set holds. A limit on a metric that the request cannot have, because it has
// only one token, holds; one that could not be measured does not.
type SLO struct {
	// TTFT is from the schedule to the first token event.
	TTFT time.Duration `json:"ttft,omitzero"`
	// TPOT is the time per output token after the first event.
	TPOT time.Duration `json:"tpot,omitzero"`
	// ITL bounds the longest gap between token events.
	ITL time.Duration `json:"itl,omitzero"`
	// E2E is from the schedule to the last token event.
	E2E time.Duration `json:"e2e,omitzero"`
}

// limits are the fields by name.
func (s SLO) limits() [4]struct {
	name  string
	limit time.Duration
} {
	return [4]struct {
		name  string
		limit time.Duration
	}{{"TTFT", s.TTFT}, {"TPOT", s.TPOT}, {"ITL", s.ITL}, {"E2E", s.E2E}}
}

// Validate reports everything that is wrong with the limits.
func (s SLO) Validate() error {
	var errs []error
	for _, l := range s.limits() {
		if l.limit < 0 {
			errs = append(errs, fmt.Errorf("metric: SLO.%s must not be negative, got %v: zero switches it off", l.name, l.limit))
		}
	}
	if s == (SLO{}) {
		errs = append(errs, errors.New("metric: SLO has no limit: set at least one of TTFT, TPOT, ITL and E2E"))
	}
	return errors.Join(errs...)
}

// String is, for example, "TTFT ≤ 500ms, TPOT ≤ 40ms"; "no limit" when none is
// set.
func (s SLO) String() string {
	var parts []string
	for _, l := range s.limits() {
		if l.limit != 0 {
			parts = append(parts, fmt.Sprintf("%s ≤ %v", l.name, l.limit))
		}
	}
	if parts == nil {
		return "no limit"
	}
	return strings.Join(parts, ", ")
}

// Good reports that the request succeeded within every limit set.
//
// A request whose tokens the server did not count misses a limit on TPOT,
// unless all of it came in one event. One whose events all came at one
// instant had no time between tokens, and meets it.
func (s SLO) Good(t *Timeline) bool {
	if t.Failed() {
		return false
	}
	within := func(limit time.Duration, get func(*Timeline) (time.Duration, bool)) bool {
		if limit == 0 {
			return true
		}
		v, ok := get(t)
		return ok && v <= limit
	}
	if !within(s.TTFT, (*Timeline).TTFT) || !within(s.E2E, (*Timeline).E2E) {
		return false
	}
	if s.ITL != 0 && t.longestGap() > s.ITL {
		return false
	}
	if s.TPOT == 0 || t.LastToken == t.FirstToken {
		return true
	}
	if v, ok := t.TPOT(); ok {
		return v <= s.TPOT
	}
	return t.OutputTokens >= 0
}
