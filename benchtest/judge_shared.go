package benchtest

import "github.com/openloop-go/openloop/benchtest/metric"

// Requests of others may be more than Limits.Shared says of tokens: that share of
// them, and so many, at the least. Some are too small to show among the tokens, and
// cost the others a step of the engine each.
const sharedRequests, leastShared = 0.05, 5

// shared: whether the engine served nobody else from before the run's first
// request until after its last.
func (j *judge) shared() {
	limit := j.p.Limits.Shared
	for _, of := range []struct {
		key, word string
		share     float64
		least     int
	}{
		{"prompt_tokens", "prompt tokens", limit, j.largest(func(t *metric.Timeline) int { return max(t.PromptTokens, t.AskedPrompt) })},
		{"output_tokens", "output tokens", limit, j.largest(func(t *metric.Timeline) int { return max(t.OutputTokens, t.AskedOutput) })},
		{"requests", "requests", max(limit, sharedRequests), leastShared},
	} {
		served, told := j.r.Served[of.key]
		own, counted := j.r.Own[of.key]
		if !told || !counted || served <= 0 || served-own <= float64(of.least) || (served-own)/served <= of.share {
			continue
		}
		j.problem(kindShared, "the server served %.0f %s in this run, of which at most %.0f were this run's (%s were not, limit %s): somebody else used it meanwhile (a user, another test, openloop doctor), or its /metrics covers more than this server (prefill and decode pods, replicas): measure it alone, or raise Limits.Shared", served, of.word, own, percent((served-own)/served), percent(of.share))
		return
	}
}

// largest is the most of something in any request or probe of the run.
func (j *judge) largest(of func(t *metric.Timeline) int) int {
	most := 0
	for _, all := range [][]metric.Timeline{j.r.Requests, j.r.Probes} {
		for i := range all {
			most = max(most, of(&all[i]))
		}
	}
	return most
}
