package steady

import (
	"math"
	"testing"
	"time"
)

// TestWaitPastSaturation: at 20 % over capacity the wait is a fifth of the
// time offered, whatever the engine.
func TestWaitPastSaturation(t *testing.T) {
	for _, capacity := range []float64{0.5, 14.2, 900} {
		o := Overload{Offered: 1.2 * capacity, Capacity: capacity, Growth: 0.2 * capacity, Overshoot: 0.2}
		for at, want := range map[time.Duration]time.Duration{time.Minute: 12 * time.Second, 10 * time.Minute: 2 * time.Minute} {
			if got := o.Wait(at); got != want {
				t.Errorf("capacity %v: a request after %v waits %v, want %v", capacity, at, got, want)
			}
		}
	}
}

func TestRelaxation(t *testing.T) {
	for rho, want := range map[float64]float64{0.5: 6, 0.8: 72, 0.85: 140, 0.9: 342, 0.95: 1482, 0: 0, -1: 0} {
		if got := Relaxation(rho); math.Round(got) != want {
			t.Errorf("ρ %v: %v arrivals, want %v", rho, got, want)
		}
	}
	for _, rho := range []float64{1, 1.2, math.Inf(1), math.NaN()} {
		if got := Relaxation(rho); !math.IsInf(got, 1) {
			t.Errorf("ρ %v: %v arrivals, want no end", rho, got)
		}
	}
}

func TestCut(t *testing.T) {
	rows := []struct {
		name          string
		arrivals      int
		inFlight, rho float64
		want          int
	}{
		{"a tenth of the arrivals", 2000, 2, 0.3, 200},
		{"three request durations", 300, 40, 0.3, 120},
		{"relaxation", 2000, 2, 0.9, 342},
		{"relaxation, capped", 2000, 2, 0.99, 600},
		{"at capacity", 2000, 2, 1, 600},
		{"load not known", 2000, 2, 0, 200},
		{"more than there are arrivals", 30, 40, 0.9, 120},
	}
	for _, row := range rows {
		if got := Cut(row.arrivals, row.inFlight, row.rho); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
