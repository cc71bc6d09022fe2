package steady

import (
	"errors"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

const (
	// instants are the equal instants at which the unit-root test looks.
	instants = 51
	// slices are the equal slices over which the walk's variance is measured.
	slices = 20
)

// Series is what the verdict needs of one run: the number in flight over the
// window.
type Series struct {
	// Arrivals is the number of arrivals in the window, Window its length.
	Arrivals int
	Window   time.Duration
	// N is the number in flight at 51 equal instants, the first and the last
	// being the window's edges; Slices the same at 21.
	N      [instants]int
	Slices [slices + 1]int
	// GapCV2 and OutputCV2 are the squared coefficients of variation of the
	// scheduled gaps and of the output lengths: the least variance that the
	// walk can have.
	GapCV2, OutputCV2 float64
}

// minArrivals is the least number of arrivals in a window: one a slice.
const minArrivals = slices

// ErrClosed is the refusal to judge a closed loop.
var ErrClosed = errors.New("steady: a closed loop has no queue that could grow: its load follows the server; use an open loop")

// Of takes the series from a record. It refuses a closed loop with ErrClosed
// and a window with fewer than 20 arrivals.
//
// A request is in flight from its schedule to its last token. Output lengths
// are the server's counts or, where it gave none, those asked for; where
// neither is known they are taken to vary as exponential ones do.
func Of(r *metric.Record) (Series, error) {
	if !r.Open() {
		return Series{}, ErrClosed
	}
	counted := r.Counted()
	s := Series{Arrivals: len(counted), Window: r.To - r.From}
	if s.Arrivals < minArrivals || s.Window <= 0 {
		return Series{}, fmt.Errorf("steady: %d arrivals in a window of %v: the verdict needs at least %d", s.Arrivals, s.Window, minArrivals)
	}
	inFlight(s.N[:], r)
	inFlight(s.Slices[:], r)

	gaps := make([]float64, 0, len(counted))
	lengths := make([]float64, 0, len(counted))
	for i, t := range counted {
		if i > 0 {
			gaps = append(gaps, float64(t.Scheduled-counted[i-1].Scheduled))
		}
		switch {
		case !t.Failed() && t.OutputTokens >= 0:
			lengths = append(lengths, float64(t.OutputTokens))
		case t.AskedOutput >= 0:
			lengths = append(lengths, float64(t.AskedOutput))
		}
	}
	s.GapCV2 = cv2(gaps)
	s.OutputCV2 = 1
	if len(lengths) > 1 {
		s.OutputCV2 = cv2(lengths)
	}
	return s, nil
}

// inFlight fills n with the number in flight just before each of len(n) equal
// instants from the window's first edge to its last, so that what happens at
// an instant counts after it, at both edges alike.
func inFlight(n []int, r *metric.Record) {
	last := time.Duration(len(n) - 1)
	window := r.To - r.From
	after := func(t time.Duration) int { // the first instant after t
		if t < r.From {
			return 0
		}
		if t >= r.To {
			return len(n)
		}
		// The instants are cut to whole nanoseconds, so the quotient may be
		// one short.
		k := (t - r.From) * last / window
		for r.From+window*k/last <= t {
			k++
		}
		return int(k)
	}
	step := make([]int, len(n)+1)
	for i := range r.Requests {
		q := &r.Requests[i]
		step[after(q.Scheduled)]++
		if end, ended := q.End(); ended {
			step[after(end)]--
		}
	}
	sum := 0
	for k := range n {
		sum += step[k]
		n[k] = sum
	}
}

// cv2 is variance over mean squared; 0 for fewer than two values or none but
// zeros.
func cv2(x []float64) float64 {
	mean, variance := moments(x)
	if mean == 0 {
		return 0
	}
	return variance / (mean * mean)
}

// moments are the mean and the variance, n − 1 in its denominator, which is 0
// for fewer than two values.
func moments(x []float64) (mean, variance float64) {
	if len(x) < 2 {
		return 0, 0
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1)
}
