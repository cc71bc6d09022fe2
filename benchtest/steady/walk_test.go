package steady

import (
	"math"
	"testing"
	"time"
)

func TestVarianceIsTheLargerOfSeenAndMade(t *testing.T) {
	s := Series{Arrivals: 1000, Window: time.Second, GapCV2: 1, OutputCV2: 0.5}
	if got := s.variance(); got != 1500 {
		t.Errorf("a walk that never moved has variance %v, want that of its arrivals and lengths, 1500", got)
	}
	for k := range s.Slices {
		s.Slices[k] = 20 * (k % 2) // steps of ±20: variance 400·20/19 a slice
	}
	if got, want := s.variance(), 400.0*20/19*20; math.Abs(got-want) > 1e-9 {
		t.Errorf("a walk of ±20 a slice has variance %v, want %v", got, want)
	}
	if got := (Series{Arrivals: 1000}).variance(); got != 1 {
		t.Errorf("without any chance the variance is %v, want one request's", got)
	}
}

// TestDickeyFullerAgainstLeastSquares compares with the normal equations,
// solved as they stand.
func TestDickeyFullerAgainstLeastSquares(t *testing.T) {
	s, err := Of(queues["M/M/1, c² 2"](0.8).run(3, 100, 500))
	if err != nil {
		t.Fatal(err)
	}
	var n, x1, x2, y1, xy float64
	for k := range instants - 1 {
		x, y := float64(s.N[k]), float64(s.N[k+1]-s.N[k])
		n, x1, x2, y1, xy = n+1, x1+x, x2+x*x, y1+y, xy+x*y
	}
	det := n*x2 - x1*x1
	a, b := (x2*y1-x1*xy)/det, (n*xy-x1*y1)/det
	var rest float64
	for k := range instants - 1 {
		e := float64(s.N[k+1]-s.N[k]) - a - b*float64(s.N[k])
		rest += e * e
	}
	want := b / math.Sqrt(rest/(n-2)*n/det)
	if got := s.dickeyFuller(); math.Abs(got-want) > 1e-9 || want > -1 {
		t.Errorf("t is %v, want %v", got, want)
	}
}

func TestCriticalBetweenTabledRuns(t *testing.T) {
	for runs, want := range map[int]float64{1: -2.92, 2: -2.51, 3: -2.34, 4: -2.23, 5: -2.16, 8: -2.03, 12: -1.94} {
		if got := critical(runs); math.Abs(got-want) > 0.005 {
			t.Errorf("%d runs: %v, want %v", runs, got, want)
		}
	}
	for runs := 2; runs < 100; runs++ {
		if critical(runs) <= critical(runs-1) {
			t.Errorf("%d runs: %v is not above %v of one run less", runs, critical(runs), critical(runs-1))
		}
	}
}
