package benchtest

import (
	"fmt"
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// The kinds of problems that make a run invalid. Judge finds those up to
// kindCapped in a record; the driver adds the others as they happen.
const (
	kindNoData        = "no-data"
	kindErrors        = "errors"
	kindUnfinished    = "unfinished"
	kindWrongModel    = "wrong-model"
	kindClient        = "client-limited"
	kindClientUnknown = "client-unknown"
	kindBuffered      = "buffered"
	kindWarmCache     = "warm-cache"
	kindColdUnproved  = "cold-unproved"
	kindLength        = "length"
	kindRestarted     = "restarted"
	kindShared        = "shared"
	kindCompiled      = "compile-in-window"
	kindThrottled     = "throttled"
	kindCapped        = "in-flight-cap"
	kindNotIdle       = "not-idle"
	kindTooShort      = "too-short"
	kindCut           = "cut-short"
	kindStuck         = "stuck"
)

// Judge says whether a run can be trusted, from its record alone: whether the
// load was offered as planned, the cache was as declared, the replies were of
// the length asked for, and so on, against the point's limits. It returns
// every reason for doubt; problems make the run invalid, warnings do not. A
// record made by Measure or Run has been judged: Judge serves for judging it
// again, by other limits.
func Judge(r *metric.Record, p Point) (problems []metric.Problem, warnings []string) {
	j := newJudge(r, p)
	if len(j.window) == 0 {
		j.problem(kindNoData, "no request was due in the window: raise Requests or Window")
		return j.problems, j.warnings
	}
	for _, t := range j.window {
		if t.Failure == "" {
			j.good = append(j.good, t)
		}
	}
	j.errors()
	j.client()
	j.connections()
	j.ownPart()
	j.cache()
	j.stream()
	j.lengths()
	j.counters()
	j.shared()
	j.probes()
	j.devices()
	j.around()
	j.said()
	return j.problems, j.warnings
}

func newJudge(r *metric.Record, p Point) *judge {
	return &judge{r: r, p: p.orDefaults(), window: r.Counted()}
}

type judge struct {
	r      *metric.Record
	p      Point
	window []*metric.Timeline
	good   []*metric.Timeline
	// closed is what ended has found; nil before.
	closed map[*metric.Timeline]bool

	problems []metric.Problem
	warnings []string
}

func (j *judge) problem(kind, format string, args ...any) {
	j.problems = append(j.problems, metric.Problem{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

func (j *judge) warn(format string, args ...any) {
	j.warnings = append(j.warnings, fmt.Sprintf(format, args...))
}

// errors: failures, among all that the user did not abort. What failed on this
// host, or was refused by the point's MaxInFlight, is no error of the engine's, and
// told with the client.
func (j *judge) errors() {
	n, failed, ours, unfinished, wrong := 0, 0, 0, 0, 0
	var all, theirs classes
	for _, t := range j.window {
		if t.Failure == metric.Aborted {
			continue
		}
		n++
		switch t.Failure {
		case "":
			continue
		case metric.Unfinished:
			unfinished++
			continue
		}
		failed++
		all.add(t.Failure, t.Message)
		if onThisSide(t) {
			ours++
			continue
		}
		theirs.add(t.Failure, t.Message)
		if t.Failure == string(engines.NoModel) {
			wrong++
		}
	}
	if share := float64(unfinished) / float64(max(n, 1)); unfinished > 0 && !(share <= j.p.Limits.ErrorRate) {
		why := "what is left has the shorter latencies; raise Point.Drain, or the load is more than the engine can do"
		switch {
		case j.heardAfter():
		case j.p.Drain < leastSilence:
			why = "no event came from any request in that time: raise Point.Drain, or find out whether the engine hangs"
		default:
			why = "no event came from any request in that time, so " + itHangs
		}
		j.problem(kindUnfinished, "%d of %d requests (%s) had not ended %v after the window, limit %s: %s", unfinished, n, percent(share), j.p.Drain, percent(j.p.Limits.ErrorRate), why)
	}
	if n > 0 && failed == n {
		j.problem(kindNoData, "none of %d requests of the window succeeded (%s)", n, all)
	}
	failed -= ours
	if share := float64(failed) / float64(max(n, 1)); failed > 0 && !(share <= j.p.Limits.ErrorRate) {
		j.problem(kindErrors, "%d of %d requests failed (%s), limit %s; %s: find out why, or raise Limits.ErrorRate", failed, n, percent(share), percent(j.p.Limits.ErrorRate), theirs)
	}
	if wrong > 0 {
		j.problem(kindWrongModel, "%d of %d requests were answered by another model: attach to a server that serves only the one", wrong, n)
	}
}

// onThisSide reports a request that failed here and never reached the engine.
func onThisSide(t *metric.Timeline) bool {
	return t.Failure == string(engines.Client) || t.Failure == failCapped
}

// lengths: whether the work done was the work asked for.
func (j *judge) lengths() {
	j.length("output", func(t *metric.Timeline) (asked, got int) { return t.AskedOutput, t.OutputTokens },
		"the server ends early or late; have it honour ignore_eos, or compare only with runs of the same length")
	j.length("prompt", func(t *metric.Timeline) (asked, got int) { return t.AskedPrompt, t.PromptTokens },
		"the server adds, cuts or re-tokenises prompts; check max-model-len and templates")
}

func (j *judge) length(what string, of func(*metric.Timeline) (asked, got int), remedy string) {
	asked, got, unknown := 0, 0, 0
	for _, t := range j.good {
		switch a, g := of(t); {
		case a < 0:
		case g < 0:
			unknown++
		default:
			asked += a
			got += g
		}
	}
	if told := len(j.good) - unknown; unknown > 0 && told > 0 && !(float64(unknown) <= j.p.Limits.ErrorRate*float64(len(j.good))) {
		// A part that was counted does not stand for the whole: what hides in
		// the rest would be left out of every token metric.
		j.problem(kindLength, "the server told the %s tokens of only %d of %d requests: token metrics would be those of a part; find out why it does not count the others", what, told, len(j.good))
	} else if unknown > 0 {
		j.warn("the server did not tell the %s tokens of %d of %d requests: token metrics are estimates", what, unknown, len(j.good))
	}
	if off := float64(got-asked) / float64(max(asked, 1)); asked > 0 && !(math.Abs(off) <= j.p.Limits.Length) {
		j.problem(kindLength, "%d %s tokens were served and %d asked for (%+.1f %%), limit ±%s: %s", got, what, asked, 100*off, percent(j.p.Limits.Length), remedy)
	}
}

// counters: what the engine counted over the window.
func (j *judge) counters() {
	for _, key := range []string{"prompt_tokens", "output_tokens", "cache_queries", "cache_hits", "preemptions"} {
		if n := j.r.Counters[key]; n < 0 {
			j.problem(kindRestarted, "the engine's counter %s fell by %.0f in the window: the engine has restarted, whose log says why, or several servers answer at this address, of which to attach to one", key, -n)
			break
		}
	}
	if n := j.r.Counters["compile_events"]; n > 0 {
		j.problem(kindCompiled, "%.0f compile events fell into the window: raise Point.Warmup from %d, so that every shape is compiled before", n, j.r.WarmupRequests)
	}
}

// probes: they are no part of the load, so that what becomes of them makes no
// run invalid.
func (j *judge) probes() {
	share, err := j.r.Value("probe-error-rate")
	if err != nil || share <= j.p.Limits.ErrorRate {
		return
	}
	first := ""
	for _, t := range j.r.Probes {
		if t.Failed() {
			first = t.Failure + ": " + t.Message
			break
		}
	}
	j.warn("%s of the probes failed; first: %s", percent(share), first)
}

func percent(share float64) string {
	return fmt.Sprintf("%.3g %%", 100*share)
}
