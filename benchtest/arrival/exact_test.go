package arrival

import (
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// TestKnownTimes has schedules that can be computed by hand, through the
// exact inverse of the integrated rate.
func TestKnownTimes(t *testing.T) {
	rows := []struct {
		name    string
		profile profile
		count   float64 // arrivals expected
		at      time.Duration
	}{
		{"ramp from nothing: Λ = t²/2", Ramp{0, 10, 10 * time.Second}.profile(), 2, 2 * time.Second},
		{"ramp from nothing, no arrival yet", Ramp{0, 10, 10 * time.Second}.profile(), 0, 0},
		{"end of that ramp", Ramp{0, 10, 10 * time.Second}.profile(), 50, 10 * time.Second},
		{"after it, at the last rate", Ramp{0, 10, 10 * time.Second}.profile(), 55, 10*time.Second + 500*time.Millisecond},
		{"falling ramp: Λ = 9t − t²/2", Ramp{9, 1, 8 * time.Second}.profile(), 28, 4 * time.Second},
		{"ramp that does not change", Ramp{5, 5, time.Second}.profile(), 20, 4 * time.Second},
		{"first step", Steps{{4, time.Second}, {8, 0}}.profile(), 2, 500 * time.Millisecond},
		{"second step", Steps{{4, time.Second}, {8, 0}}.profile(), 6, 1250 * time.Millisecond},
		{"a pause has no arrivals", Steps{{4, time.Second}, {0, time.Minute}, {8, 0}}.profile(), 4, 61 * time.Second},
		{"a pause at the start", Steps{{0, time.Minute}, {8, 0}}.profile(), 8, 61 * time.Second},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, ok := row.profile.inverse(newCount(row.count))
			if !ok || got != row.at {
				t.Errorf("%v arrivals are expected by %v, want %v", row.count, got, row.at)
			}
			if back := row.profile.expected(row.at); math.Abs(back-row.count) > 1e-9 {
				t.Errorf("by %v are expected %v arrivals, want %v", row.at, back, row.count)
			}
		})
	}
}

func TestMeanRate(t *testing.T) {
	rows := []struct {
		p    interface{ MeanRate(time.Duration) float64 }
		over time.Duration
		want float64
	}{
		{Poisson{4}, time.Second, 4},
		{Constant{4}, time.Second, 4},
		{Gamma{4, 0.5}, time.Second, 4},
		{Ramp{2, 8, 30 * time.Second}, 0, 2},
		{Ramp{2, 8, 30 * time.Second}, 15 * time.Second, 3.5},
		{Ramp{2, 8, 30 * time.Second}, 30 * time.Second, 5},
		{Ramp{2, 8, 30 * time.Second}, 60 * time.Second, 6.5},
		{Steps{{4, 30 * time.Second}, {0, 30 * time.Second}, {8, 0}}, 0, 4},
		{Steps{{4, 30 * time.Second}, {0, 30 * time.Second}, {8, 0}}, time.Minute, 2},
		{Steps{{4, 30 * time.Second}, {0, 30 * time.Second}, {8, 0}}, 2 * time.Minute, 5},
	}
	for _, row := range rows {
		if got := row.p.MeanRate(row.over); math.Abs(got-row.want) > 1e-12 {
			t.Errorf("%v over %v: mean rate %v, want %v", row.p, row.over, got, row.want)
		}
	}
}

// TestNoDriftInTenMillion compares late times with exact arithmetic.
func TestNoDriftInTenMillion(t *testing.T) {
	const n = 10_000_000
	nth := func(seq iter.Seq[time.Duration], n int) (last time.Duration) {
		for t := range seq {
			if last = t; n == 0 {
				return last
			}
			n--
		}
		return -1
	}
	if got, want := nth(Constant{Rate: 3}.Times(0), n), time.Duration(3333333333333333); got != want {
		t.Errorf("constant 3/s: arrival %d at %d ns, want %d", n, got, want)
	}
	// The sum of the gaps, exactly, in units of 2⁻⁵² of a gap.
	r, sum := generator(5), new(big.Int)
	var chunk uint64
	for i := range n + 1 {
		chunk += uint64(r.ExpFloat64() * one)
		if i%64 == 63 || i == n {
			sum.Add(sum, new(big.Int).SetUint64(chunk))
			chunk = 0
		}
	}
	exact := new(big.Rat).SetFrac(sum, big.NewInt(one))
	exact.Mul(exact, big.NewRat(1_000_000_000, 7))
	want, _ := exact.Float64()
	got := nth(Poisson{Rate: 7}.Times(5), n)
	if diff := math.Abs(float64(got) - want); diff > 1 {
		t.Errorf("poisson 7/s: arrival %d is %v ns off the exact sum", n, diff)
	}
}

func TestRateThatOutlastsTimeEndsTheSequence(t *testing.T) {
	n := 0
	for range (Constant{Rate: 1e-9}).Times(0) { // one in 32 years
		if n++; n > 20 {
			t.Fatal("the sequence goes on past what a time.Duration holds")
		}
	}
	if n != 10 {
		t.Errorf("%d arrivals in 292 years at one in 32 years, want 10", n)
	}
}

func TestGammaDistribution(t *testing.T) {
	const n = 200_000
	for _, k := range []float64{0.05, 0.5, 2, 40} {
		draw, r := gammaGap(k), rand.New(rand.NewPCG(1, 2))
		var m1, m2, m3 float64
		for range n {
			x := draw(r)
			m1 += x / n
			m2 += x * x / n
			m3 += x * x * x / n
		}
		// Moments about zero of a gamma of shape k and mean 1, and seven
		// standard deviations of their estimates.
		moment := func(j int) float64 {
			p := 1.0
			for i := range j {
				p *= (k + float64(i)) / k
			}
			return p
		}
		for j, got := range []float64{m1, m2, m3} {
			want := moment(j + 1)
			sd := math.Sqrt((moment(2*j+2) - want*want) / n)
			if math.Abs(got-want) > 7*sd {
				t.Errorf("shape %v: moment %d is %v, want %v ± %v", k, j+1, got, want, 7*sd)
			}
		}
	}
}

func TestGapCV2(t *testing.T) {
	rows := []struct {
		name  string
		times []time.Duration
		want  float64
	}{
		{"nothing", nil, 0},
		{"one gap tells nothing", []time.Duration{0, 5}, 0},
		{"equal gaps", []time.Duration{0, 5, 10, 15}, 0},
		{"all at once", []time.Duration{3, 3, 3}, 0},
		{"gaps 1 and 3: variance 2, mean 2", []time.Duration{0, 1, 4}, 0.5},
	}
	for _, row := range rows {
		if got := GapCV2(row.times); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
	for _, k := range []float64{0.25, 1, 4} {
		if got := GapCV2(take(Gamma{Rate: 1, Burstiness: k}, 3, 100_000)); math.Abs(got*k-1) > 0.05 {
			t.Errorf("gamma of shape %v: squared CV %v, want %v", k, got, 1/k)
		}
	}
}
