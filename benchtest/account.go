package benchtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

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

// vainWaits is how many waits in a row for a server to have counted what it has
// sent may be in vain before no more are made: one that counts less than it sends
// never comes to it, and a page that is kept for a while may be luckier next time.
const vainWaits = 2

// vain are the waits in a row after which the counters that lacked the last time
// still lacked something of what was sent.
type vain struct {
	waits  int
	lacked []string
}

// openAccount begins a run's account, when nothing is in flight. A page of
// metrics follows replies by a moment, so it waits until the requests before this
// run are on it: they would be taken for somebody else's in it. One that is made
// anew every now and then (by a cache on the way) may not have them in time.
func (s *session) openAccount(ctx context.Context, r *metric.Record) {
	l := &s.start.ledger
	c := s.scrape(ctx)
	learnt := s.vain.waits == vainWaits
	for wait, waited := 5*time.Millisecond, time.Duration(0); l.awaited(c) && s.simulator == nil && waited < countedLimit; wait *= 2 {
		if learnt && l.lacking(c) != nil {
			break
		}
		wait = min(wait, countedLimit-waited)
		if !sleep(ctx, wait) {
			break
		}
		waited += wait
		c = s.scrape(ctx)
	}
	lacking := l.open(c)
	switch {
	case learnt:
		// Also where nothing lacks now: what others have used may make up for it.
		r.Warnings = append(r.Warnings, fmt.Sprintf("%v after the last request before earlier runs the server's %s still lacked some of what it had served, so this run has not waited: whether it served others in this run cannot be seen by that (go round what keeps its /metrics for a while; or it counts less than it sends)", countedLimit, strings.Join(s.vain.lacked, ", ")))
	case lacking == nil:
		s.vain.waits = 0
	default:
		later := ""
		if s.vain.waits++; s.vain.waits == vainWaits {
			s.vain.lacked = lacking
			later = "; the later runs of this measurement do not wait for it"
			s.logf("%v after the last request the server's %s still lacked some of what it had served, %d times in a row: later runs do not wait for that, nor see whether the server serves others (go round what keeps its /metrics for a while; or it counts less than it sends)", countedLimit, strings.Join(lacking, ", "), vainWaits)
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%v after the last request before this run the server's %s still lacked some of what it had served: whether it served others in this run cannot be seen by that (go round what keeps its /metrics for a while; or it counts less than it sends)%s", countedLimit, strings.Join(lacking, ", "), later))
	}
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
	from, to := l.from, s.scrape(ctx)
	sure, loose := used(slices.Concat(out.flights, out.probes))
	own := sure.and(loose).and(l.carried)
	r.Served, r.Own = map[string]float64{}, map[string]float64{}
	write := func(key string, from, to engines.Count, n int) {
		if from.Known && to.Known && to.N >= from.N {
			r.Served[key], r.Own[key] = float64(to.N-from.N), float64(n)
		}
	}
	switch {
	case from.Preemptions != to.Preemptions:
		// What is put back is computed anew, and some servers count that again.
	case own.unasked == 0:
		write("prompt_tokens", from.PromptTokens, to.PromptTokens, own.prompt)
	case from.PromptTokens.Known && to.PromptTokens.Known:
		r.Warnings = append(r.Warnings, fmt.Sprintf("nobody has told how many prompt tokens %s had: whether the server served others in this run cannot be seen by prompt_tokens", many(own.unasked, "request")))
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
	addProblem(r, kindRestarted, "the engine has restarted since this measurement began, and nobody here has asked for it (its counter %s): find out why in its log, and measure all runs on one start; or several servers answer at this address: attach to one", fell)
}
