package benchtest

import (
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// cache: prompt tokens that came from the cache, against what the workload
// means to share.
func (j *judge) cache() {
	if j.p.Cache == Warm {
		return
	}
	share, proof := cachedShare(j.r)
	switch limit := j.p.SharedTokens + j.p.Limits.Cached; {
	case proof == "" && j.p.Cache == ProvedCold:
		j.problem(kindColdUnproved, "the point asks for a proved cold cache, and neither requests nor counters tell cached tokens (flush: %s): let the server report them (vLLM: --enable-prompt-tokens-details, SGLang: --enable-cache-report), or ask for Cold", j.flush())
	case proof == "":
		j.warn("nothing shows whether the prefix cache was cold: the server tells no cached tokens (flush: %s)", j.flush())
	case !(share <= limit):
		j.problem(kindWarmCache, "%s of the prompt tokens came from the cache (by %s), declared %s and %s allowed above it; flush: %s; flush it, or declare SharedTokens", percent(share), proof, percent(j.p.SharedTokens), percent(j.p.Limits.Cached), j.flush())
	}
}

func (j *judge) flush() string {
	switch {
	case j.r.Flush == "":
		return "none"
	case j.r.FlushDetail == "":
		return j.r.Flush
	}
	return j.r.Flush + ", " + j.r.FlushDetail
}

// cachedShare is the share of the window's prompt tokens that the cache
// served, and how that is known: by "requests", by "counters", or not ("").
func cachedShare(r *metric.Record) (share float64, proof string) {
	if share, err := r.Value("cached-share"); err == nil {
		return share, "requests"
	}
	hits, hit := r.Counters["cache_hits"]
	queries, queried := r.Counters["cache_queries"]
	// The engine's counters are of the probes too.
	for i := range r.Probes {
		switch p := &r.Probes[i]; {
		case p.Failed():
		case p.PromptTokens < 0 || p.CachedTokens < 0:
			return math.NaN(), ""
		default:
			queries -= float64(p.PromptTokens)
			hits -= float64(p.CachedTokens)
		}
	}
	if hit && queried && queries > 0 {
		return max(hits, 0) / queries, "counters"
	}
	return math.NaN(), ""
}
