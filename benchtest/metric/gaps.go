package metric

import (
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// GapSummary is what a record keeps of the gaps between token events of the
// window's successful requests. Requests whose gaps are all zero (everything
// arrived in one read) are left out: they tell nothing about pace.
//
// The quantiles are exact, so that a record read back has the values of the
// run; the histogram, good to three digits, is there to be merged with those
// of other runs and to be plotted.
type GapSummary struct {
	// N is the number of gaps and Zeros how many of them were zero.
	N     int `json:"n"`
	Zeros int `json:"zeros,omitzero"`
	// Sum and Max are over all of them.
	Sum time.Duration `json:"sum"`
	Max time.Duration `json:"max"`
	// P50 … P999 are quantiles by nearest rank, whatever N is.
	P50  time.Duration `json:"p50"`
	P90  time.Duration `json:"p90"`
	P95  time.Duration `json:"p95"`
	P99  time.Duration `json:"p99"`
	P999 time.Duration `json:"p999"`
	// Histogram is an HdrHistogram in its V2 compressed encoding, in
	// nanoseconds.
	Histogram string `json:"histogram"`
}

// SummariseGaps sets ZeroGaps and GapMax from Gaps. Without Gaps it leaves
// both as they are.
func (t *Timeline) SummariseGaps() {
	if len(t.Gaps) == 0 {
		return
	}
	t.ZeroGaps, t.GapMax = 0, 0
	for _, g := range t.Gaps {
		if g == 0 {
			t.ZeroGaps++
		}
		t.GapMax = max(t.GapMax, g)
	}
}

// longestGap is GapMax, or that of gaps that are not yet summarised.
func (t *Timeline) longestGap() time.Duration {
	longest := t.GapMax
	for _, g := range t.Gaps {
		longest = max(longest, g)
	}
	return longest
}

// Summarise sets the gap summaries of the requests and of the run. Whoever
// fills a record calls it once, when the requests are complete; the gaps
// themselves may then be dropped.
func (r *Record) Summarise() {
	for i := range r.Requests {
		r.Requests[i].SummariseGaps()
	}
	r.Gaps = r.gaps()
}

// gaps is the summary, from the gaps themselves if there is none yet.
func (r *Record) gaps() GapSummary {
	if r.Gaps.N > 0 {
		return r.Gaps
	}
	var all []time.Duration
	for _, t := range r.Counted() {
		if !t.Failed() && slices.ContainsFunc(t.Gaps, func(g time.Duration) bool { return g != 0 }) {
			all = append(all, t.Gaps...)
		}
	}
	if len(all) == 0 {
		return GapSummary{}
	}
	slices.Sort(all)
	s := GapSummary{
		N: len(all), Max: all[len(all)-1],
		P50: nearest(all, 0.5), P90: nearest(all, 0.9), P95: nearest(all, 0.95), P99: nearest(all, 0.99), P999: nearest(all, 0.999),
	}
	h := hdrhistogram.New(1, max(2, int64(s.Max)), 3)
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j] == all[i] {
			j++
		}
		if all[i] == 0 {
			s.Zeros = j - i
		}
		s.Sum += all[i] * time.Duration(j-i)
		// Every gap is in the range the histogram was made for.
		_ = h.RecordValues(int64(all[i]), int64(j-i))
		i = j
	}
	// The error is that of writing to a buffer in memory.
	text, _ := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	s.Histogram = string(text)
	return s
}

// quantile is the gap quantile by nearest rank that the summary keeps.
func (s GapSummary) quantile(p float64) time.Duration {
	switch p {
	case 0.5:
		return s.P50
	case 0.9:
		return s.P90
	case 0.95:
		return s.P95
	case 0.99:
		return s.P99
	case 0.999:
		return s.P999
	}
	return s.Max
}

// mergeGaps is the summary of several runs together. Counts, sum and maximum
// are exact; quantiles are the histograms', good to one part in a thousand.
func mergeGaps(all []GapSummary) (GapSummary, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	var s GapSummary
	for _, g := range all {
		s.N += g.N
		s.Zeros += g.Zeros
		s.Sum += g.Sum
		s.Max = max(s.Max, g.Max)
	}
	if s.N == 0 {
		return s, nil
	}
	merged := hdrhistogram.New(1, max(2, int64(s.Max)), 3)
	for _, g := range all {
		if g.N == 0 {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(g.Histogram))
		if err != nil {
			return s, fmt.Errorf("metric: gaps.histogram cannot be read: %w", err)
		}
		if dropped := merged.Merge(h); dropped > 0 || h.TotalCount() != int64(g.N) {
			return s, fmt.Errorf("metric: gaps.histogram holds %d gaps up to %v, gaps.n says %d and gaps.max %v", h.TotalCount(), time.Duration(h.Max()), g.N, g.Max)
		}
	}
	at := func(p float64) time.Duration {
		return min(s.Max, time.Duration(merged.ValueAtPercentile(p*100)))
	}
	s.P50, s.P90, s.P95, s.P99, s.P999 = at(0.5), at(0.9), at(0.95), at(0.99), at(0.999)
	return s, nil
}

// GapsAreTokens reports that every gap counted is the time between two
// tokens, because every event is known to have carried exactly one. Otherwise
// the "itl" metrics are of gaps between events that may carry several tokens,
// and must not be compared with gaps between tokens.
func (r *Record) GapsAreTokens() bool {
	any := false
	for _, t := range r.Counted() {
		if t.Failed() || t.Events < 2 {
			continue
		}
		if !t.TokenGaps {
			return false
		}
		any = true
	}
	return any
}
