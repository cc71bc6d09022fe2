//go:build linux

package main

import (
	"math"
	"slices"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// truth is what the server's journal says of the requests of one load.
type truth struct {
	Requests int
	// Broken is the number of replies that could not be written whole.
	Broken int
	// Events is the number of token events that were written.
	Events int
	// Connections is the number of connections that the requests came on.
	Connections int
	// From is the first arrival, To the last event, by nullserver.Now.
	From, To int64
	// Rate is arrivals/s, CV2 the squared coefficient of variation of the gaps
	// between them, and Counts the variance ÷ mean of the number of arrivals in
	// windows of ten expected ones. Both are 1 for a Poisson process; only the
	// second sees that gaps are not independent.
	Rate, CV2, Counts float64
	// InFlight is the largest number of requests at a time.
	InFlight int
	// TTFT is from arrival to first event; Gaps are between events, Means the
	// mean gap of each request.
	TTFT, Gaps, Means dist
}

// truthOf reads the requests that asked for the load's number of tokens, which
// leaves out what clients ask before they begin. With ids it takes those only.
func truthOf(requests []nullserver.Request, tokens int, ids []string) truth {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	var t truth
	var arrivals, ttft, gaps, means []float64
	var edges [][2]int64 // when, and +1 or -1 in flight
	for _, r := range sortedBy(slices.Clone(requests), func(r nullserver.Request) int64 { return r.Arrival }) {
		if r.Asked != tokens || len(r.Sent) == 0 || len(wanted) > 0 && !wanted[r.ID] {
			continue
		}
		t.Requests++
		t.Events += len(r.Sent)
		if r.Fresh {
			t.Connections++
		}
		if t.From == 0 {
			t.From = r.Arrival
		}
		last := r.Sent[len(r.Sent)-1]
		t.To = max(t.To, last)
		arrivals = append(arrivals, float64(r.Arrival-t.From)/1e9)
		edges = append(edges, [2]int64{r.Arrival, 1}, [2]int64{last, -1})
		if !r.Whole {
			t.Broken++
			continue
		}
		ttft = append(ttft, float64(r.Sent[0]-r.Arrival)/1e6)
		for i := 1; i < len(r.Sent); i++ {
			gaps = append(gaps, float64(r.Sent[i]-r.Sent[i-1])/1e6)
		}
		if n := len(r.Sent) - 1; n > 0 {
			means = append(means, float64(last-r.Sent[0])/1e6/float64(n))
		}
	}
	in := 0
	for _, e := range sortedBy(edges, func(e [2]int64) int64 { return e[0] }) {
		in += int(e[1])
		t.InFlight = max(t.InFlight, in)
	}
	t.Rate, t.CV2 = dispersion(arrivals)
	t.Counts = countDispersion(arrivals, perWindow/t.Rate)
	t.TTFT, t.Gaps, t.Means = distOf(ttft), distOf(gaps), distOf(means)
	return t
}

// dispersion is the rate and the dispersion of sorted times in seconds.
func dispersion(times []float64) (rate, cv2 float64) {
	n := float64(len(times) - 1)
	if n < 2 {
		return math.NaN(), math.NaN()
	}
	span := times[len(times)-1] - times[0]
	mean, squares := span/n, 0.0
	for i := 1; i < len(times); i++ {
		d := times[i] - times[i-1] - mean
		squares += d * d
	}
	return n / span, squares / (n - 1) / (mean * mean)
}

// perWindow is the expected number of arrivals in a window of countDispersion.
const perWindow = 10

// countDispersion is the variance ÷ mean of the number of sorted times in whole
// windows of so many seconds, from the first on.
func countDispersion(times []float64, window float64) float64 {
	if len(times) == 0 || math.IsNaN(window) {
		return math.NaN()
	}
	counts := make([]float64, int((times[len(times)-1]-times[0])/window))
	if len(counts) < 2 {
		return math.NaN()
	}
	for _, t := range times {
		if i := int((t - times[0]) / window); i < len(counts) {
			counts[i]++
		}
	}
	mean, squares := 0.0, 0.0
	for _, n := range counts {
		mean += n / float64(len(counts))
	}
	for _, n := range counts {
		squares += (n - mean) * (n - mean)
	}
	return squares / float64(len(counts)-1) / mean
}
