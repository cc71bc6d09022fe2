package benchtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// ledger is what this side knows of what the engine has counted since it was
// started for this measurement.
type ledger struct {
	// last are the counters as they were last known.
	last engines.Counters
	// fell says how one of them fell; empty is that none did.
	fell string
	// quiet are the counters as they were last read with nothing in flight, before
	// a load: at the start of the measurement, and before each run's first request.
	quiet engines.Counters
	// sure and loose are what requests have used since, those that ended well and
	// those that did not (see used); carried is what the latter had before: where
	// one that was called off is worked on for a while it is counted late.
	sure, loose, carried usage
}

// follow takes a reading, which must be later than those before. Counters fall
// where a server was started again, and nowhere else.
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
	// unasked is true where nobody knows how long a prompt was.
	unasked bool
}

func (u usage) and(v usage) usage {
	return usage{u.prompt + v.prompt, u.output + v.output, u.requests + v.requests, u.unasked || v.unasked}
}

// used is what an engine has at most counted of requests: sure of those that
// ended well, and loose of those that did not, which count whole. Those that
// were never sent count nothing.
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
			of.prompt, of.unasked = 0, true
		}
		switch {
		case t.Failure == failCapped || t.Failure == string(engines.Misuse):
		case t.Failure == "":
			sure = sure.and(of)
		default:
			loose = loose.and(of)
		}
	}
	return sure, loose
}

// book takes note of the requests of a load that is over.
func (l *ledger) book(flights []*flight) {
	sure, loose := used(flights)
	l.sure, l.loose = l.sure.and(sure), l.loose.and(loose)
}

// scrape reads the engine's counters at a moment at which nothing of this side's
// is in flight; what cannot be read is unknown.
func (s *session) scrape(ctx context.Context) engines.Counters {
	scraper, ok := s.engine.(engines.Scraper)
	if !ok {
		return engines.Counters{}
	}
	ctx, cancel := context.WithTimeout(ctx, edgeLimit)
	defer cancel()
	c, err := scraper.Scrape(ctx)
	if err != nil {
		return engines.Counters{} // the edges of the window say so
	}
	s.start.ledger.follow(c)
	return c
}

// countedLimit bounds the wait for a server to have counted what it has sent.
const countedLimit = 2 * time.Second

// openAccount begins a run's account, when nothing is in flight. A page of
// metrics follows replies by a moment, so it waits until the requests before this
// run are on it: they would be taken for somebody else's in it.
func (s *session) openAccount(ctx context.Context) {
	l := &s.start.ledger
	c := s.scrape(ctx)
	for wait, waited := 5*time.Millisecond, time.Duration(0); !l.complete(c) && s.simulator == nil && waited < countedLimit; wait *= 2 {
		if !sleep(ctx, wait) {
			break
		}
		waited += wait
		c = s.scrape(ctx)
	}
	l.quiet, l.carried = c, l.loose
	l.sure, l.loose = usage{}, usage{}
}

// complete reports whether counters tell of all that ended well since they were
// last read in quiet, as far as they are known to; one that has fallen will not.
func (l *ledger) complete(c engines.Counters) bool {
	lacks := func(from, to engines.Count, n int) bool {
		return from.Known && to.Known && to.N >= from.N && to.N-from.N < n
	}
	return !lacks(l.quiet.PromptTokens, c.PromptTokens, l.sure.prompt) &&
		!lacks(l.quiet.OutputTokens, c.OutputTokens, l.sure.output) &&
		!lacks(l.quiet.Requests, c.Requests, l.sure.requests)
}

// closeAccount writes down what the engine has counted over the whole run and
// what this side's requests account for, at most. What is not known is absent.
func (s *session) closeAccount(ctx context.Context, r *metric.Record, out outcome) {
	l := &s.start.ledger
	for _, e := range out.edges {
		if e.scraped {
			l.follow(e.counters)
		}
	}
	if out.cut != nil || out.stuck > 0 {
		return // something may still be in flight
	}
	from, to := l.quiet, s.scrape(ctx)
	sure, loose := used(slices.Concat(out.flights, out.probes))
	own := sure.and(loose).and(l.carried)
	r.Served, r.Own = map[string]float64{}, map[string]float64{}
	write := func(key string, from, to engines.Count, n int) {
		if from.Known && to.Known && to.N >= from.N {
			r.Served[key], r.Own[key] = float64(to.N-from.N), float64(n)
		}
	}
	// What is put back is computed anew, and some servers count that again.
	if !own.unasked && from.Preemptions == to.Preemptions {
		write("prompt_tokens", from.PromptTokens, to.PromptTokens, own.prompt)
	}
	write("output_tokens", from.OutputTokens, to.OutputTokens, own.output)
	write("requests", from.Requests, to.Requests, own.requests)
}

// sameStart adds to a run that a counter has fallen since this measurement
// began, in it or before: it is of another start than those before.
func (s *session) sameStart(r *metric.Record) {
	fell := s.start.ledger.fell
	if fell == "" || slices.ContainsFunc(r.Problems, func(p metric.Problem) bool { return p.Kind == kindRestarted }) {
		return
	}
	addProblem(r, kindRestarted, "the engine has restarted since this measurement began, and nobody here has asked for it (its counter %s): find out why in its log, and measure all runs on one start", fell)
}
