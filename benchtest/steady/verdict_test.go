package steady

import (
	"math"
	"strings"
	"testing"
	"time"
)

// line is a run of 1,000 arrivals in 100 s whose number in flight goes in a
// straight line from a to b, with the wobble at every other instant.
func line(a, b, wobble int) Series {
	s := Series{Arrivals: 1000, Window: 100 * time.Second, GapCV2: 1}
	for k := range s.N {
		s.N[k] = a + (b-a)*k/(instants-1) + wobble*(k%2)
	}
	for k := range s.Slices {
		s.Slices[k] = a + (b-a)*k/slices
	}
	return s
}

func TestVerdictsInWords(t *testing.T) {
	quiet, flat := line(0, 0, 0), line(40, 40, 0)
	fixed := line(0, 5, 0)
	fixed.GapCV2 = 0
	long := line(10, 40, 0)
	long.Arrivals = 10_000
	rows := []struct {
		name string
		runs []Series
		want State
		text string
	}{
		{"nothing ever in flight", []Series{quiet}, Sustained,
			"sustained: the number in flight returns to a level, Dickey–Fuller t -7.07, below -2.92 (1 run, 1,000 arrivals)"},
		{"a constant number in flight", []Series{flat}, Sustained,
			"sustained: the number in flight returns to a level, Dickey–Fuller t -7.07, below -2.92 (1 run, 1,000 arrivals)"},
		{"back to its level every time", []Series{line(40, 40, 7)}, Sustained,
			"sustained: the number in flight returns to a level, Dickey–Fuller t -7.07, below -2.92 (1 run, 1,000 arrivals)"},
		{"growth that chance does not explain", []Series{line(10, 110, 0)}, Growing,
			"growing: the backlog grows by 1.00 req/s: 10.00 offered, 9.00 served, 11 % over capacity for 1m40s; z 3.2, above 1.96 (1 run, 1,000 arrivals)"},
		{"growth that it does", []Series{line(10, 60, 0)}, Undecided,
			"undecided: 1 run, 1,000 arrivals show an overload of 9.7 % or more; one of 5 % takes 3,462 arrivals (z 1.6, Dickey–Fuller t 0.00, critical -2.92)"},
		{"the same, three times over", []Series{line(10, 60, 0), line(10, 60, 0), line(10, 60, 0)}, Growing,
			"growing: the backlog grows by 0.50 req/s: 10.00 offered, 9.50 served, 5 % over capacity for 1m40s; z 2.7, above 1.96 (3 runs, 3,000 arrivals)"},
		{"growth within what is tolerated", []Series{long}, Sustained,
			"sustained: the backlog grew by at most 1.9 % of the arrivals, tolerated are 5 % (1 run, 10,000 arrivals)"},
		{"no chance at all: constant gaps, equal work", []Series{fixed}, Growing,
			"growing: the backlog grows by 0.05 req/s: 10.00 offered, 9.95 served, 1 % over capacity for 1m40s; z 2.5, above 1.96 (1 run, 1,000 arrivals)"},
		{"nothing was served", []Series{line(0, 1000, 0)}, Growing,
			"growing: the backlog grows by 10.00 req/s: 10.00 offered, 0.01 served, 100000 % over capacity for 1m40s; z 31.6, above 1.96 (1 run, 1,000 arrivals)"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			v, err := Judge(row.runs...)
			if err != nil {
				t.Fatal(err)
			}
			if v.State != row.want || v.String() != row.text {
				t.Errorf("got  %s\nwant %s", v, row.text)
			}
			if (v.Overload != nil) != (v.State == Growing) {
				t.Errorf("overload is %v in a verdict of %s", v.Overload, v.State)
			}
		})
	}
	if got := (Verdict{}).String(); got != "no verdict" {
		t.Errorf("the zero verdict is %q", got)
	}
}

func TestTooFewArrivalsCouldShowNoOverload(t *testing.T) {
	s := line(3, 8, 0)
	s.Arrivals, s.OutputCV2 = 20, 3
	v, err := Judge(s)
	if err != nil || v.Resolution != 0 || v.State != Undecided {
		t.Fatalf("%+v, %v", v, err)
	}
	if got, want := v.String(), "undecided: 1 run, 20 arrivals can show no overload at all; one of 5 % takes 13,848 arrivals (z 0.6, Dickey–Fuller t 0.00, critical -2.92)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestPoolingSumsGrowthAndVariance: three runs, of which one grew by what the
// others lost, did not grow.
func TestPoolingSumsGrowthAndVariance(t *testing.T) {
	up, down, level := line(0, 80, 0), line(80, 0, 0), line(40, 40, 0)
	v, err := Judge(up, down, level)
	if err != nil {
		t.Fatal(err)
	}
	if v.Z != 0 || v.Growth != 0 || v.C2 != 1 || v.Runs != 3 || v.Arrivals != 3000 {
		t.Errorf("%+v", v)
	}
	if want := 1.645 * math.Sqrt(3000) / 3000; math.Abs(v.GrowthUpper-want) > 1e-12 {
		t.Errorf("upper bound of the growth %v, want %v", v.GrowthUpper, want)
	}
}

func TestArrivalsNeeded(t *testing.T) {
	rows := []struct {
		c2, rho float64
		want    int
	}{
		{2, 1.02, 40_836}, {2, 1.05, 6_924}, {2, 1.1, 1_900}, {2, 1.2, 566},
		{1, 1.06, 2_451}, {1, 1.02, 20_418},
		{1, 1, 0}, {1, 0.9, 0}, {1, math.NaN(), 0}, {1, math.Inf(1), 8},
		{1, 1 + 1e-9, math.MaxInt32},
	}
	for _, row := range rows {
		if got := (Verdict{C2: row.c2}).ArrivalsNeeded(row.rho); got != row.want {
			t.Errorf("c² %v, ρ %v: %d arrivals, want %d", row.c2, row.rho, got, row.want)
		}
	}
	// The resolution and the arrivals needed are inverse to each other, but
	// for 2.8² = 7.84.
	for _, n := range []float64{500, 2000, 40_000} {
		v := Verdict{C2: 1.5}
		if got := float64(v.ArrivalsNeeded(resolution(1.5, n))); math.Abs(got/n-1) > 0.005 {
			t.Errorf("%v arrivals resolve what %v are needed for", n, got)
		}
	}
}

// FuzzJudge: whatever the series, the verdict is one of three and all of its
// numbers are finite.
func FuzzJudge(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, 1.0, 1.0, 100, int64(time.Second))
	f.Add([]byte{9}, 0.0, 0.0, 20, int64(1))
	f.Fuzz(func(t *testing.T, n []byte, gap, output float64, arrivals int, window int64) {
		if !(gap >= 0 && gap < 1e6 && output >= 0 && output < 1e6) || len(n) == 0 || arrivals > 1e9 {
			return
		}
		s := Series{Arrivals: arrivals, Window: time.Duration(window), GapCV2: gap, OutputCV2: output}
		for k := range s.N {
			s.N[k] = int(n[k%len(n)])
		}
		for k := range s.Slices {
			s.Slices[k] = int(n[k*2%len(n)])
		}
		v, err := Judge(s, s)
		if err != nil {
			return
		}
		for _, x := range []float64{v.C2, v.Z, v.DF, v.DFCritical, v.Growth, v.GrowthUpper, v.Resolution} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%+v", v)
			}
		}
		if v.State != Growing && v.State != Sustained && v.State != Undecided || v.State == Growing && v.Growth <= 0 {
			t.Fatalf("%+v", v)
		}
	})
}

// A variance that is no number is no reason to call a queue anything.
func TestVarianceThatIsNoNumber(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), -1} {
		for _, s := range []Series{{GapCV2: x}, {OutputCV2: x}} {
			s.Arrivals, s.Window = 1000, time.Minute
			if v, err := Judge(s); err == nil || !strings.Contains(err.Error(), "must be finite and not negative") {
				t.Errorf("%+v: %v, %v", s, v, err)
			}
		}
		if n := Cut(1000, x, 0.5); n != 100 {
			t.Errorf("Cut with %v in flight is %d, want 100", x, n)
		}
	}
}
