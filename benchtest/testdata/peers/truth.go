//go:build linux

package main

import (
	"math"
	"slices"
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
	// From is the first arrival, To the last event, by monotonic.
	From, To int64
	// Rate is arrivals/s, and CV2 the squared coefficient of variation of the
	// gaps between them: 1 for a Poisson process.
	Rate, CV2 float64
	// InFlight is the largest number of requests at a time.
	InFlight int
	// TTFT is from arrival to first event; Gaps are between events, Means the
	// mean gap of each request.
	TTFT, Gaps, Means dist
}

// truthOf reads the requests that asked for the load's number of tokens, which
// leaves out what clients ask before they begin. With ids it takes those only.
func truthOf(requests []*request, tokens int, ids []string) truth {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	var t truth
	var arrivals, ttft, gaps, means []float64
	var edges [][2]int64 // when, and +1 or -1 in flight
	for _, r := range sortedBy(slices.Clone(requests), func(r *request) int64 { return r.Arrival }) {
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
