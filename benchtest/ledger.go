package benchtest

import (
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// ledger is what this side knows of what the engine has counted since it was
// started for this measurement.
type ledger struct {
	// last are the counters as they were last known.
	last engines.Counters
	// fell says how one of them fell; empty is that none did.
	fell string
	// quiet are the counters, each as it was last read with nothing in flight and
	// all on it that had ended well before: at the start of the measurement, and
	// before a run's first request.
	quiet engines.Counters
	// sure and loose are what requests have used since, those that ended well and
	// those that did not (see used).
	sure, loose usage
	// from are the counters before the first request of the run that is being
	// made; those are unknown on which something before it lacked. Carried is what
	// may be counted late of what did not end well before: where a request that
	// was called off is worked on for a while.
	from    engines.Counters
	carried usage
	// idle is true when the engine has told that it holds no work, since the last
	// request; behind when its counters have not told of work in time.
	idle, behind bool
}

// follow takes a reading, which must be later than those before. Counters fall
// where a server was started again, or where another answers.
func (l *ledger) follow(c engines.Counters) {
	for _, x := range counterPairs(&l.last, &c) {
		if x.before.Known && x.after.Known && x.after.N < x.before.N && l.fell == "" {
			l.fell = fmt.Sprintf("%s fell from %d to %d", x.key, x.before.N, x.after.N)
		}
		if x.after.Known {
			*x.before = *x.after
		}
	}
}

type counterPair struct {
	key           string
	before, after *engines.Count
}

func counterPairs(a, b *engines.Counters) []counterPair {
	return []counterPair{
		{"prompt_tokens", &a.PromptTokens, &b.PromptTokens},
		{"output_tokens", &a.OutputTokens, &b.OutputTokens},
		{"requests", &a.Requests, &b.Requests},
		{"cache_queries", &a.CacheQueries, &b.CacheQueries},
		{"cache_hits", &a.CacheHits, &b.CacheHits},
		{"preemptions", &a.Preemptions, &b.Preemptions},
	}
}

// usage is what requests account for.
type usage struct {
	prompt, output, requests int
	// unasked is how many there are of whose prompts nobody knows the length.
	unasked int
}

func (u usage) and(v usage) usage {
	return usage{u.prompt + v.prompt, u.output + v.output, u.requests + v.requests, u.unasked + v.unasked}
}

// used is what an engine has at most counted of requests: sure of those that
// ended well, and loose of those that did not, which count whole. Those that
// never left this host count nothing.
func used(flights []*flight) (sure, loose usage) {
	for _, f := range flights {
		t := &f.line
		of := usage{prompt: t.PromptTokens, output: max(t.OutputTokens, t.Events), requests: 1}
		if of.prompt < 0 {
			of.prompt = t.AskedPrompt
		}
		if t.OutputTokens < 0 || t.Failure != "" {
			of.output = f.request.MaxTokens
		}
		if of.prompt < 0 {
			of.prompt, of.unasked = 0, 1
		}
		switch {
		case f.unsent || neverLeft[engines.Class(t.Failure)]:
		case t.Failure == "":
			sure = sure.and(of)
		default:
			loose = loose.and(of)
		}
	}
	return sure, loose
}

// neverLeft are the failures of requests of which no server has seen anything.
var neverLeft = map[engines.Class]bool{engines.Misuse: true, engines.Unreachable: true, engines.Client: true}

// book takes note of the requests of a load that is over.
func (l *ledger) book(flights []*flight) {
	sure, loose := used(flights)
	l.sure, l.loose, l.idle = l.sure.and(sure), l.loose.and(loose), false
}

// account is one counter that requests account for.
type account struct {
	key              string
	quiet, from, now *engines.Count
	sure, loose      *int
	carried          *int
}

func (l *ledger) accounts(now *engines.Counters) []account {
	return []account{
		{"prompt_tokens", &l.quiet.PromptTokens, &l.from.PromptTokens, &now.PromptTokens, &l.sure.prompt, &l.loose.prompt, &l.carried.prompt},
		{"output_tokens", &l.quiet.OutputTokens, &l.from.OutputTokens, &now.OutputTokens, &l.sure.output, &l.loose.output, &l.carried.output},
		{"requests", &l.quiet.Requests, &l.from.Requests, &now.Requests, &l.sure.requests, &l.loose.requests, &l.carried.requests},
	}
}

// lacks reports whether the counter does not tell of all that ended well since it
// was last read in quiet, as far as it is known to; one that has fallen will not.
func (a account) lacks() bool {
	return a.quiet.Known && a.now.Known && a.now.N >= a.quiet.N && a.now.N-a.quiet.N < *a.sure
}

// late is how much of what was before the counter may tell of yet, at most.
func (a account) late() int {
	if !a.quiet.Known || !a.now.Known || a.now.N < a.quiet.N {
		return *a.loose
	}
	return min(*a.loose, max(0, *a.sure+*a.loose-(a.now.N-a.quiet.N)))
}

// awaited reports whether the counters may tell of more, without any work. What
// did not end well may be on them, and hide that something else is not.
func (l *ledger) awaited(now engines.Counters) bool {
	for _, a := range l.accounts(&now) {
		if a.lacks() || l.idle && a.now.Known && a.late() > 0 {
			return true
		}
	}
	return l.idle && now.PromptTokens.Known && l.loose.unasked > 0
}

// lacking are the counters that lack something.
func (l *ledger) lacking(now engines.Counters) []string {
	var keys []string
	for _, a := range l.accounts(&now) {
		if a.lacks() {
			keys = append(keys, a.key)
		}
	}
	return keys
}

// open begins a run's account with the counters as they are now. One that lacks
// something would have it in the run, as if it were somebody else's: it is unknown
// in this run, and what it was when it was last complete stays what the next is
// held against. An engine that was idle for as long as its counters may be late has
// counted all it will.
func (l *ledger) open(now engines.Counters) (lacking []string) {
	lacking = l.lacking(now)
	l.behind = l.behind || lacking != nil
	settled := l.idle && !l.behind
	l.from = engines.Counters{Preemptions: now.Preemptions}
	for _, a := range l.accounts(&now) {
		if !a.now.Known || a.lacks() {
			continue
		}
		if *a.carried = a.late(); settled {
			*a.carried = 0
		}
		*a.quiet, *a.from = *a.now, *a.now
		*a.sure, *a.loose = 0, 0
	}
	if l.from.PromptTokens.Known {
		if l.carried.unasked = l.loose.unasked; settled {
			l.carried.unasked = 0
		}
		l.sure.unasked, l.loose.unasked = 0, 0
	}
	return lacking
}
