package regressions

import (
	"fmt"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// What the gaps of a run lie between, as Run.Gaps says it.
const (
	// gapsOfTokens: every event carried one token, so that ITL is what its name
	// says.
	gapsOfTokens = "tokens"
	// gapsOfEvents: some event carried several, or none told how many.
	gapsOfEvents = "events"
)

// gapsOf is what the gaps of a record lie between, "" where it has none.
func gapsOf(r *metric.Record) string {
	if r.GapsAreTokens() {
		return gapsOfTokens
	}
	for _, t := range r.Counted() {
		if !t.Failed() && t.Events > 1 {
			return gapsOfEvents
		}
	}
	return ""
}

// onGaps reports whether a metric of these arms is of gaps, or counts by them
// since the SLO limits ITL.
func (j judging) onGaps(name string) bool {
	counts := name == goodput || name == attainment
	return strings.HasSuffix(name, "-itl-sec") || counts && strings.Contains(j.base.SLO, "ITL") && strings.Contains(j.cand.SLO, "ITL")
}

// gaps is what the gaps of all runs lie between, "" where some do not say.
func (a Arm) gaps() string {
	of := ""
	for i, r := range a.Runs {
		switch {
		case r.Gaps == "":
			return ""
		case i == 0:
			of = r.Gaps
		case r.Gaps != of:
			return gapsOfEvents
		}
	}
	return of
}

// incomparable says why a metric of gaps does not compare, "" where it does: a
// gap between events of several tokens is that of several tokens.
func (j judging) incomparable(name string) string {
	was, now := j.base.gaps(), j.cand.gaps()
	if !j.onGaps(name) || was == "" || now == "" || was == now {
		return ""
	}
	say := func(of string) string {
		if of == gapsOfTokens {
			return "single tokens"
		}
		return "events of several tokens, or of unknown many"
	}
	return fmt.Sprintf("%s does not compare: its gaps are between %s in %s, between %s here", name, say(was), j.old, say(now))
}
