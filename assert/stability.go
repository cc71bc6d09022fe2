package assert

import (
	"fmt"
	"path/filepath"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/ci"
)

// Sustained asserts that the engine keeps up with an open loop: the number of
// requests in flight does not grow. The runs are pooled, since several decide
// what one cannot. A growing queue fails with its growth, the overshoot and
// the length of the run; an undecided one with the arrivals that would decide
// it, unless the configuration says what else inconclusive verdicts do.
//
// A closed loop never offers more than the engine takes, so asserting that it
// is sustained is refused. Behind a Point.ClientLimit the engine never has more
// requests than the limit allows, so that its own queue could not grow either; what
// is judged is the queue of all that were due, wherever they wait, and where it
// grows the limit is named.
func Sustained(t TestingT, runs *benchtest.Runs, msgAndArgs ...any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	if bad, ok := check(runs); !ok {
		return fail(t, bad, msgAndArgs)
	}
	records := runs.Records
	if closed(records[0]) {
		bad := reportf("assert: Sustained on a closed loop (%d in flight) cannot fail, so it is refused: it sends only when the engine has answered; use an arrival process", records[0].InFlight)
		bad.at = at(records)
		return fail(t, bad, msgAndArgs)
	}
	q := queueOf(records)
	out := reportf("%s", q)
	switch q.State {
	case steady.Growing:
		out = growing(q, records)
	case steady.Undecided:
		out = undecided(q, records)
	}
	out.replaced(runs)
	out.at = at(records)
	switch {
	case q.why != "" || q.State == steady.Growing:
		return fail(t, out, msgAndArgs)
	case q.State == steady.Sustained:
		return pass(t, out)
	}
	config, err := ci.Load()
	if err != nil {
		return fail(t, reportf("%v", err), msgAndArgs)
	}
	return inconclusive(t, config, out, msgAndArgs)
}

// queue is what the queue of an open loop did. A closed loop's is never
// judged; one that cannot be judged is undecided, and why says so.
type queue struct {
	steady.Verdict
	why        string
	backlogged backlogged
}

func queueOf(records []*metric.Record) queue {
	if closed(records[0]) {
		return queue{Verdict: steady.Verdict{State: steady.Sustained}}
	}
	v, err := steady.JudgeRecords(records...)
	if err != nil {
		return queue{Verdict: steady.Verdict{State: steady.Undecided}, why: "stability cannot be judged: " + err.Error()}
	}
	return queue{Verdict: v, backlogged: heldBack(records)}
}

func (q queue) String() string {
	if q.why != "" {
		return q.why
	}
	return q.Verdict.String()
}

func growing(q queue, records []*metric.Record) report {
	bad := reportf("%s", q)
	here := q.Overload != nil && q.Overload.ClientLimit > 0
	q.backlogged.explain(&bad, here)
	if !here {
		bad.add("next", "%s", offerLess)
	}
	bad.at = at(records)
	return bad
}

const offerLess = "offer less, or make the engine faster: past saturation every latency is a function of how long one ran"

// outpaced words a queue that grows because the engine does not keep up.
func outpaced(q queue, records []*metric.Record) report {
	bad := reportf("%s", q)
	bad.add("next", "%s", offerLess)
	bad.at = at(records)
	return bad
}

func undecided(q queue, records []*metric.Record) report {
	bad := reportf("%s", q)
	bad.add("next", "raise Requests, Window or Runs: several runs are pooled")
	bad.at = at(records)
	return bad
}

// inconclusive does to the test what the configuration says an inconclusive
// verdict does.
func inconclusive(t TestingT, config ci.Config, r report, msgAndArgs []any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	switch config.Inconclusive {
	case ci.InconclusiveWarns:
		r.add("so", "the test goes on, because OPENLOOP_INCONCLUSIVE=warn")
		return pass(t, r)
	case ci.InconclusiveSkips:
		if s, ok := t.(interface{ Skip(...any) }); ok {
			r.add("so", "the test is skipped, because OPENLOOP_INCONCLUSIVE=skip")
			s.Skip(r.String())
			return false
		}
	}
	return fail(t, r, msgAndArgs)
}

// steadyEnough says why no latency of an open loop may be judged: because the
// queue grows, or because it is undecided at a load that is not known to be
// quiet.
func steadyEnough(what string, records []*metric.Record) (refusal report, ok bool) {
	q := queueOf(records)
	switch {
	case q.State == steady.Sustained:
		return report{}, true
	case q.State == steady.Growing:
		bad := growing(q, records)
		bad.head = what + " is refused: " + bad.head
		return bad, false
	case records[0].Quiet():
		return report{}, true
	}
	bad := undecided(q, records)
	bad.head = what + " is refused: " + bad.head
	bad.add("or", "%s", howQuiet(records[0]))
	return bad, false
}

func howQuiet(r *metric.Record) string {
	if r.Capacity > 0 {
		return fmt.Sprintf("offer at most %s req/s, which is %v of the known capacity of %s: there an undecided queue is quiet enough", rate(metric.QuietShare*r.Capacity), metric.QuietShare, exact(r.Capacity))
	}
	return fmt.Sprintf("set Point.Capacity: at up to %v of a known capacity an undecided queue is quiet enough", metric.QuietShare)
}

// outgrown words a queue that grows where the baseline's did not, since a
// growing one is never stored: a regression by itself.
func (g *gating) outgrown(q queue) report {
	// A limit on the client's side is the baseline's too: it explains nothing.
	bad := outpaced(q, g.runs.Records)
	bad.head = "regressed: the queue grows at a load that " + g.held + ", so no latency is compared: " + bad.head
	if g.path != "" {
		bad.add("file", "%s", filepath.ToSlash(g.path))
	}
	return bad
}

// unsettled words latencies that are no worse on a queue that is undecided:
// past saturation they would be those of a short run.
func (g *gating) unsettled(q queue, verdict string) report {
	out := reportf("inconclusive: no slower, but only if the queue does not grow, which is undecided")
	out.add("queue", "%s", q)
	out.add("verdict", "%s", verdict)
	out.add("next", "raise Requests, Window or the gate's Looks: several runs are pooled")
	out.add("or", "%s", howQuiet(g.runs.Records[0]))
	return out
}
