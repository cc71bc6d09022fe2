package benchtest

import "github.com/openloop-go/openloop/benchtest/metric"

const (
	// sharedTokens is the share of tokens by which an engine may have served more
	// than this side asked of it, beside those of one request: servers count a few
	// that they do not send.
	sharedTokens = 0.01
	// sharedRequests is that of requests, and leastShared how many those may be at
	// least: some are too small to show among the tokens, and cost the others a
	// step of the engine each.
	sharedRequests, leastShared = 0.05, 5
)

// shared: whether the engine served nobody else from before the run's first
// request until after its last.
func (j *judge) shared() {
	for _, of := range []struct {
		key, word string
		share     float64
		least     int
	}{
		{"prompt_tokens", "prompt tokens", sharedTokens, j.largest(func(t *metric.Timeline) int { return max(t.PromptTokens, t.AskedPrompt) })},
		{"output_tokens", "output tokens", sharedTokens, j.largest(func(t *metric.Timeline) int { return max(t.OutputTokens, t.AskedOutput) })},
		{"requests", "requests", sharedRequests, leastShared},
	} {
		served, told := j.r.Served[of.key]
		own, counted := j.r.Own[of.key]
		if !told || !counted || served <= own+max(of.share*own, float64(of.least)) {
			continue
		}
		j.problem(kindShared, "the server served %.0f %s in this run, of which at most %.0f were this run's: somebody else used it meanwhile (a user, another test, openloop doctor): measure it alone", served, of.word, own)
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
