package regressions

import (
	"fmt"
	"math"
	"slices"

	"github.com/openloop-go/openloop/regressions/stat"
)

// pairing is the runs of one index in both arms, which had the same arrivals.
type pairing struct {
	index int
	// start is the baseline's start; of several replays of one index, that of
	// the first.
	start string
	// base and cand are means over the replays of this index, on the scale of
	// the test; rawBase and rawCand are the values themselves.
	base, cand       float64
	rawBase, rawCand []float64
}

// pair joins the runs of both arms that have the same index and the same seed;
// why says what keeps other candidate runs without a partner.
func pair(base, cand []sample, old against) (pairs []pairing, why string) {
	bases, cands := byIndex(base), byIndex(cand)
	alone, other := 0, 0
	for _, i := range indices(cand) {
		b, c := bases[i], cands[i]
		switch {
		case len(b) == 0:
			alone++
		case slices.ContainsFunc(slices.Concat(b, c), func(s sample) bool { return s.seed != c[0].seed }):
			other++
		default:
			pairs = append(pairs, pairing{
				index: i, start: b[0].start,
				base: mean(xs(b)), cand: mean(xs(c)),
				rawBase: raws(b), rawCand: raws(c),
			})
		}
	}
	switch {
	case other > 0:
		why = fmt.Sprintf("%d of %d indices have other arrivals than in %s (seeds differ)", other, len(cands), old)
	case alone > 0:
		why = fmt.Sprintf("%s has no run with the arrivals of %d of %d indices", old, alone, len(cands))
	}
	return pairs, why
}

// replays are the baseline's runs with the candidate's arrivals, when there are
// enough starts to make the start the unit and each of them has all of those.
func replays(base, cand []sample, pairs []pairing) ([]sample, bool) {
	wanted := indices(cand)
	if len(pairs) < len(wanted) {
		return nil, false
	}
	has := map[string]map[int]bool{}
	var out []sample
	for _, b := range base {
		if has[b.start] == nil {
			has[b.start] = map[int]bool{}
		}
		if slices.Contains(wanted, b.index) {
			has[b.start][b.index] = true
			out = append(out, b)
		}
	}
	for _, h := range has {
		if len(h) < len(wanted) {
			return nil, false
		}
	}
	return out, len(has) >= stat.MinStarts
}

func byIndex(s []sample) map[int][]sample {
	m := map[int][]sample{}
	for _, x := range s {
		m[x.index] = append(m[x.index], x)
	}
	return m
}

// indices are the distinct indices in the order of first appearance.
func indices(s []sample) []int {
	var out []int
	for _, x := range s {
		if !slices.Contains(out, x.index) {
			out = append(out, x.index)
		}
	}
	return out
}

// byStart groups values by engine start, in order of first appearance.
func byStart(s []sample) [][]float64 {
	return grouped(s, func(x sample) (string, float64) { return x.start, x.x })
}

// coveredStarts groups the pairs' differences by the baseline's start.
func coveredStarts(pairs []pairing) [][]float64 {
	return grouped(pairs, func(p pairing) (string, float64) { return p.start, p.cand - p.base })
}

func grouped[T any](items []T, of func(T) (string, float64)) [][]float64 {
	var order []string
	m := map[string][]float64{}
	for _, item := range items {
		key, x := of(item)
		if _, ok := m[key]; !ok {
			order = append(order, key)
		}
		m[key] = append(m[key], x)
	}
	out := make([][]float64, len(order))
	for i, key := range order {
		out[i] = m[key]
	}
	return out
}

func diffs(pairs []pairing) []float64 {
	out := make([]float64, len(pairs))
	for i, p := range pairs {
		out[i] = p.cand - p.base
	}
	return out
}

// meanDiff is NaN without pairs.
func meanDiff(pairs []pairing) float64 { return mean(diffs(pairs)) }

func pairRaws(pairs []pairing) (base, cand []float64) {
	for _, p := range pairs {
		base = append(base, p.rawBase...)
		cand = append(cand, p.rawCand...)
	}
	return base, cand
}

func xs(s []sample) []float64 {
	out := make([]float64, len(s))
	for i, x := range s {
		out[i] = x.x
	}
	return out
}

func raws(s []sample) []float64 {
	out := make([]float64, len(s))
	for i, x := range s {
		out[i] = x.raw
	}
	return out
}

// mean is NaN without values.
func mean(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
