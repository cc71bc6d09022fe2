package assert

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
)

// Goodput asserts that at least so many requests a second met the SLO. The
// estimate is pooled: good requests of all runs ÷ seconds of all windows;
// what was refused, failed or did not finish is not good. A closed loop has
// no goodput, and a queue that grows has none that lasts: both are refused.
func Goodput(t TestingT, runs *benchtest.Runs, slo benchtest.SLO, atLeast float64, msgAndArgs ...any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if problem := objective("Goodput", slo, atLeast, "req/s"); problem != nil {
		return fail(t, *problem, msgAndArgs)
	}
	if bad, ok := check(runs); !ok {
		return fail(t, bad, msgAndArgs)
	}
	records := runs.Records
	if closed(records[0]) {
		bad := reportf("assert: Goodput on a closed loop (%d in flight) is refused: nothing arrives by a schedule there, so the rate is the engine's own answer; use an arrival process", records[0].InFlight)
		bad.at = at(records)
		return fail(t, bad, msgAndArgs)
	}
	if bad, ok := uncounted("Goodput", records, slo); !ok {
		return fail(t, bad, msgAndArgs)
	}
	met, all := good(records, slo)
	var windows []float64
	for _, r := range records {
		windows = append(windows, (r.To - r.From).Seconds())
	}
	e := ratio(met, windows)
	if !e.interval() || e.low == e.high {
		// The attainment's interval, at the rate of the arrivals.
		a, scale := attainment(records, slo), sum(all)/sum(windows)
		e = estimate{value: e.value, low: a.low * scale, high: a.high * scale, how: a.how}
	}
	e.low = max(e.low, 0)
	r := verdict{what: "goodput", unit: " req/s", estimate: e, bound: atLeast, show: rate, slo: slo, met: met, all: all}
	return r.judge(t, runs, msgAndArgs)
}

// Attainment asserts that at least this share of all arrivals in the window
// met the SLO, from 0 to 1; what was refused, failed or did not finish did
// not. The estimate is pooled over the runs. A latency of a closed loop is not
// a user's, so it is refused unless the loop is serial, and so is a queue
// that grows.
func Attainment(t TestingT, runs *benchtest.Runs, slo benchtest.SLO, atLeast float64, msgAndArgs ...any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	problem := objective("Attainment", slo, atLeast, "")
	if problem == nil && atLeast > 1 {
		bad := reportf("assert: Attainment atLeast must be a share from 0 to 1, got %v: 99 %% is 0.99", atLeast)
		problem = &bad
	}
	if problem != nil {
		return fail(t, *problem, msgAndArgs)
	}
	if bad, ok := check(runs); !ok {
		return fail(t, bad, msgAndArgs)
	}
	records := runs.Records
	if closed(records[0]) && !serial(records[0]) {
		bad := reportf("assert: Attainment on a closed loop (%d in flight) is refused: it waits for the engine before it sends, so the queue that users stand in never forms; use an arrival process", records[0].InFlight)
		bad.at = at(records)
		return fail(t, bad, msgAndArgs)
	}
	if bad, ok := uncounted("Attainment", records, slo); !ok {
		return fail(t, bad, msgAndArgs)
	}
	met, all := good(records, slo)
	r := verdict{what: "attainment", estimate: attainment(records, slo), bound: atLeast, show: share, slo: slo, met: met, all: all}
	return r.judge(t, runs, msgAndArgs)
}

// objective checks what the caller asked for.
func objective(what string, slo benchtest.SLO, atLeast float64, unit string) *report {
	var problems []string
	if err := slo.Validate(); err != nil {
		problems = append(problems, err.Error())
	}
	if !(atLeast > 0) || math.IsInf(atLeast, 0) {
		problems = append(problems, strings.TrimSpace(fmt.Sprintf("atLeast must be a positive number, got %v %s", atLeast, unit))+": a bound that cannot fail asserts nothing")
	}
	if problems == nil {
		return nil
	}
	bad := reportf("assert: %s: %s", what, strings.Join(problems, "; "))
	return &bad
}

// uncounted refuses a limit on TPOT where the server did not count tokens:
// such a request is not slow, nobody knows what it is.
func uncounted(what string, records []*metric.Record, slo metric.SLO) (report, bool) {
	if slo.TPOT == 0 {
		return report{}, true
	}
	for _, r := range records {
		for _, q := range r.Counted() {
			if !q.Failed() && q.OutputTokens < 0 {
				bad := reportf("%s is refused: SLO.TPOT is %v, and the server counted no tokens of request %s of run %d", what, slo.TPOT, q.ID, r.Run+1)
				bad.add("next", "make the server report usage in its streams, or limit ITL instead")
				bad.at = at(records)
				return bad, false
			}
		}
	}
	return report{}, true
}

// verdict is a pooled share or rate against its lower bound.
type verdict struct {
	what, unit string
	estimate
	bound    float64
	show     func(float64) string
	slo      benchtest.SLO
	met, all []float64
}

func (v verdict) judge(t TestingT, runs *benchtest.Runs, msgAndArgs []any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	records := runs.Records
	value, bound := v.show(v.value), v.show(v.bound)
	if v.what == "goodput" {
		bound = exact(v.bound)
	}
	if value == bound && v.value != v.bound {
		value = exact(v.value)
	}
	holds := v.value >= v.bound // false for NaN
	r := reportf("%s %s%s, want at least %s%s (%s)", v.what, value, v.unit, bound, v.unit, v.slo)
	if holds {
		r.head = fmt.Sprintf("%s %s%s, at least %s%s was asked (%s)", v.what, value, v.unit, bound, v.unit, v.slo)
	}
	if v.interval() {
		r.add("interval", "%s … %s%s (%s)", v.show(v.low), v.show(v.high), v.unit, v.how)
	} else {
		r.add("interval", "none: %s", v.why)
	}
	if v.inside(v.bound) {
		r.add("note", "the bound lies inside the interval: another set of runs could end on its other side")
	}
	if v.what != "attainment" {
		r.add("attainment", "%s of the arrivals met the SLO", share(sum(v.met)/sum(v.all)))
	}
	r.add("requests", "%s good of %s%s", count(int(sum(v.met))), count(int(sum(v.all))), misses(records, v.slo))
	if bad, ok := v.onTheQueue(&r, records); !ok {
		holds, r.head = false, bad
	}
	r.replaced(runs)
	r.at = at(records)
	if !holds {
		return fail(t, r, msgAndArgs)
	}
	return pass(t, r)
}

// onTheQueue adds what the queue did. On one that grows a bound that holds
// would not have held, had the run been longer.
func (v verdict) onTheQueue(r *report, records []*metric.Record) (head string, ok bool) {
	q := queueOf(records)
	if q.State != steady.Sustained {
		r.add("queue", "%s", q)
	}
	if q.State == steady.Growing && v.value >= v.bound {
		return fmt.Sprintf("%s is refused: the bound holds only because the run was short: the queue grows", v.what), false
	}
	return "", true
}

// misses says what the requests that are not good missed: each limit by
// itself, since one request can miss several, and failures by their class.
func misses(records []*metric.Record, slo metric.SLO) string {
	limits := []struct {
		name string
		slo  metric.SLO
	}{
		{"TTFT", metric.SLO{TTFT: slo.TTFT}}, {"TPOT", metric.SLO{TPOT: slo.TPOT}},
		{"ITL", metric.SLO{ITL: slo.ITL}}, {"E2E", metric.SLO{E2E: slo.E2E}},
	}
	n := make(map[string]int)
	var failures []string
	for _, r := range records {
		for _, q := range r.Counted() {
			switch {
			case q.Failure == metric.Aborted:
			case q.Failure != "":
				if n[q.Failure] == 0 {
					failures = append(failures, q.Failure)
				}
				n[q.Failure]++
			default:
				for _, l := range limits {
					if l.slo != (metric.SLO{}) && !l.slo.Good(q) {
						n[l.name]++
					}
				}
			}
		}
	}
	slices.Sort(failures)
	var parts []string
	for _, l := range limits {
		if n[l.name] > 0 {
			parts = append(parts, count(n[l.name])+" missed "+l.name)
		}
	}
	for _, f := range failures {
		parts = append(parts, count(n[f])+" "+f)
	}
	if parts == nil {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
