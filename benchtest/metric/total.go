package metric

import (
	"fmt"
	"strings"
	"time"
)

// totals are the metrics that are no latency.
var totals = []Def{
	{Name: "error-rate", Unit: "share", Better: Lower, Scale: Difference,
		Note:  "failed, refused and unfinished ÷ arrivals in the window, without those the user stopped",
		value: func(r []*Record) (float64, error) { return failedShare(r, (*Timeline).Failed) }},
	{Name: "unfinished-rate", Unit: "share", Better: Lower, Scale: Difference,
		Note:  "unfinished at the drain limit ÷ arrivals in the window; part of error-rate",
		value: func(r []*Record) (float64, error) { return failedShare(r, unfinished) }},
	{Name: "goodput-req/s", Unit: "req/s", Better: Higher, Scale: Difference,
		Note:  "arrivals in the window that met the point's SLO ÷ its length",
		value: func(r []*Record) (float64, error) { return met(r, (*Record).openSeconds) }},
	{Name: "attainment", Unit: "share", Better: Higher, Scale: Difference,
		Note:  "arrivals in the window that met the point's SLO ÷ all of them, without those the user stopped",
		value: func(r []*Record) (float64, error) { return met(r, (*Record).due) }},
	{Name: "completed-req/s", Unit: "req/s", Better: Higher,
		Note:  "requests whose last token came inside the window ÷ its length",
		value: func(r []*Record) (float64, error) { return perSecond(r, nil) }},
	{Name: "whole-run-req/s", Unit: "req/s", Better: Higher,
		Note:  "all successful requests ÷ time from the first schedule to the last token, drain included",
		value: wholeRun},
	{Name: "output-tok/s", Unit: "tok/s", Better: Higher,
		Note:  "output tokens of requests whose last token came inside the window ÷ its length",
		value: func(r []*Record) (float64, error) { return perSecond(r, (*Timeline).output) }},
	{Name: "prompt-tok/s", Unit: "tok/s", Better: Higher,
		Note:  "prompt tokens of those requests ÷ the window's length",
		value: func(r []*Record) (float64, error) { return perSecond(r, (*Timeline).prompt) }},
	{Name: "total-tok/s", Unit: "tok/s", Better: Higher,
		Note: "prompt and output tokens of those requests ÷ the window's length",
		value: func(r []*Record) (float64, error) {
			return perSecond(r, func(t *Timeline) int {
				if t.prompt() < 0 || t.output() < 0 {
					return -1
				}
				return t.prompt() + t.output()
			})
		}},
	{Name: "mean-output-tokens", Unit: "tokens",
		Note:  "output tokens of successful requests, by the server's count",
		value: func(r []*Record) (float64, error) { return meanTokens(r, (*Timeline).output) }},
	{Name: "mean-prompt-tokens", Unit: "tokens",
		Note:  "prompt tokens of successful requests, by the server's count",
		value: func(r []*Record) (float64, error) { return meanTokens(r, (*Timeline).prompt) }},
	{Name: "cached-share", Unit: "share", Scale: Difference,
		Note:  "prompt tokens served from the prefix cache ÷ prompt tokens",
		value: cachedShare},
	{Name: "probe-error-rate", Unit: "share", Better: Lower, Scale: Difference,
		Note: "probes that failed or had not ended ÷ probes scheduled in the window, without those the user stopped",
		value: func(r []*Record) (float64, error) {
			return failedOf(r, (*Record).countedProbes, (*Timeline).Failed, errNoProbes)
		}},
}

func (t *Timeline) output() int { return t.OutputTokens }
func (t *Timeline) prompt() int { return t.PromptTokens }

func unfinished(t *Timeline) bool { return t.Failure == Unfinished }

func failedShare(records []*Record, failed func(*Timeline) bool) (float64, error) {
	return failedOf(records, (*Record).Counted, failed, whyAbsent("the window has no requests"))
}

// failedOf is the share that failed of some requests; none is the error where
// there are none of them.
func failedOf(records []*Record, of func(*Record) []*Timeline, failed func(*Timeline) bool, none error) (float64, error) {
	total, bad := 0, 0
	for _, r := range records {
		for _, t := range of(r) {
			if t.Failure == Aborted {
				continue
			}
			total++
			if failed(t) {
				bad++
			}
		}
	}
	if total == 0 {
		return 0, none
	}
	return float64(bad) / float64(total), nil
}

// met is the number of requests that met the SLO of the point, over all runs,
// for each unit of what they are counted in.
func met(records []*Record, unit func(*Record) (float64, error)) (float64, error) {
	var good, units float64
	for _, r := range records {
		switch {
		case r.SLO == (SLO{}):
			return 0, whyAbsent("the point has no SLO: set Point.SLO")
		case r.SLO != records[0].SLO:
			return 0, whyAbsent(fmt.Sprintf("the runs have different SLOs, %v and %v", records[0].SLO, r.SLO))
		}
		n, err := unit(r)
		if err == nil {
			err = r.countable(r.SLO)
		}
		if err != nil {
			return 0, whyAbsent(strings.TrimPrefix(err.Error(), "metric: "))
		}
		g, _ := r.Attainment(r.SLO)
		good += float64(g)
		units += n
	}
	return good / units, nil
}

// due are the arrivals of the window that an SLO is owed.
func (r *Record) due() (float64, error) {
	_, total := r.Attainment(r.SLO)
	return float64(total), nil
}

// perSecond sums a count of tokens, or 1 when count is nil, over the requests
// that ended inside the windows, and divides by the windows' length. What is
// unknown of one request is unknown of the sum.
func perSecond(records []*Record, count func(*Timeline) int) (float64, error) {
	var seconds float64
	sum, missing := 0, 0
	for _, r := range records {
		seconds += (r.To - r.From).Seconds()
		for i := range r.Requests {
			t := &r.Requests[i]
			if t.Failed() || t.LastToken < r.From || t.LastToken >= r.To {
				continue
			}
			switch {
			case count == nil:
				sum++
			case count(t) < 0:
				missing++
			default:
				sum += count(t)
			}
		}
	}
	if !(seconds > 0) {
		return 0, whyAbsent("the window has no length")
	}
	if missing > 0 {
		return 0, uncounted(missing, "tokens")
	}
	return float64(sum) / seconds, nil
}

func wholeRun(records []*Record) (float64, error) {
	var seconds float64
	sum := 0
	for _, r := range records {
		var first, last time.Duration
		for i := range r.Requests {
			t := &r.Requests[i]
			if i == 0 || t.Scheduled < first {
				first = t.Scheduled
			}
			if !t.Failed() {
				sum++
				last = max(last, t.LastToken)
			}
		}
		seconds += max(0, last-first).Seconds()
	}
	if sum == 0 || seconds == 0 {
		return 0, whyAbsent("no request succeeded")
	}
	return float64(sum) / seconds, nil
}

func meanTokens(records []*Record, count func(*Timeline) int) (float64, error) {
	sum, n, missing := 0, 0, 0
	for _, r := range records {
		for _, t := range r.Counted() {
			switch {
			case t.Failed():
			case count(t) < 0:
				missing++
			default:
				sum += count(t)
				n++
			}
		}
	}
	if missing > 0 {
		return 0, uncounted(missing, "tokens")
	}
	if n == 0 {
		return 0, whyAbsent("no request succeeded")
	}
	return float64(sum) / float64(n), nil
}

func cachedShare(records []*Record) (float64, error) {
	cached, prompt, missing := 0, 0, 0
	for _, r := range records {
		for _, t := range r.Counted() {
			switch {
			case t.Failed():
			case t.CachedTokens < 0 || t.PromptTokens < 0:
				missing++
			default:
				cached += t.CachedTokens
				prompt += t.PromptTokens
			}
		}
	}
	if missing > 0 {
		return 0, uncounted(missing, "cached tokens")
	}
	if prompt == 0 {
		return 0, whyAbsent("no request succeeded")
	}
	return float64(cached) / float64(prompt), nil
}

// uncounted is the reason why a sum is absent: n requests lack a count.
func uncounted(n int, of string) error {
	if n == 1 {
		return whyAbsent(fmt.Sprintf("1 request has no count of %s from the server", of))
	}
	return whyAbsent(fmt.Sprintf("%s requests have no count of %s from the server", thousands(n), of))
}
