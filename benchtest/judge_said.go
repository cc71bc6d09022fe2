package benchtest

import (
	"cmp"
	"slices"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// mostSaid bounds how many different warnings of requests are told of a run; the
// record has all.
const mostSaid = 5

// said tells what the engine said of requests of the window, the most frequent
// first: that a stream was compressed, or a field not sent, is true of all.
func (j *judge) said() {
	var texts []string
	times := map[string]int{}
	for _, t := range j.window {
		for _, text := range onceEach(t) {
			if times[text]++; times[text] == 1 {
				texts = append(texts, text)
			}
		}
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	for _, text := range texts[:min(mostSaid, len(texts))] {
		j.warn("%d of %d requests: %s", times[text], len(j.window), text)
	}
	if more := len(texts) - mostSaid; more > 0 {
		j.warn("requests have %d further kinds of warnings: see Warnings of the record's requests", more)
	}
}

// onceEach are the warnings of a request, each once.
func onceEach(t *metric.Timeline) []string {
	texts := slices.Clone(t.Warnings)
	slices.Sort(texts)
	return slices.Compact(texts)
}
