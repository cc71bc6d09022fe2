package sim

import (
	"math"
	"testing"
	"time"
)

// logs samples the noise of many starts and runs at the given times, as the
// logarithms of its factors.
func logs(t *testing.T, n Noise, starts, runs int, times ...time.Duration) [][]float64 {
	t.Helper()
	n, err := n.resolve()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for start := range starts {
		w := newWeather(n, 42, uint64(start))
		for range runs {
			row := make([]float64, 0, len(times))
			origin := 17 * time.Second
			w.since(origin)
			for _, at := range times {
				row = append(row, math.Log(w.at(origin+at)))
			}
			out = append(out, row)
			w.redraw()
		}
	}
	return out
}

// correlation is that of two columns about their known mean of zero, with
// their deviations.
func correlation(rows [][]float64, a, b int) (rho, deviationA, deviationB float64) {
	var ab, aa, bb float64
	for _, r := range rows {
		ab += r[a] * r[b]
		aa += r[a] * r[a]
		bb += r[b] * r[b]
	}
	n := float64(len(rows))
	return ab / math.Sqrt(aa*bb), math.Sqrt(aa / n), math.Sqrt(bb / n)
}

func TestNoiseHasTheDeviationAndCorrelationAskedFor(t *testing.T) {
	const n = 4000
	tolerance := 5 / math.Sqrt(n) // five standard errors of a correlation
	rows := logs(t, Noise{Start: -1}, 1, n, 0, 30*time.Second, time.Minute, 10*time.Minute)
	for i, want := range []float64{1, math.Exp(-.5), math.Exp(-1), math.Exp(-10)} {
		rho, first, later := correlation(rows, 0, i)
		if math.Abs(rho-want) > tolerance {
			t.Errorf("correlation at column %d: %.3f, want %.3f ± %.3f", i, rho, want, tolerance)
		}
		for _, d := range []float64{first, later} {
			if math.Abs(d/0.01-1) > tolerance {
				t.Errorf("deviation %.5f, want 0.01", d)
			}
		}
	}
}

func TestStartsDifferAndStayWhatTheyAre(t *testing.T) {
	const n = 2000
	rows := logs(t, Noise{Run: -1}, n, 2, 0, time.Hour)
	for i := 0; i < len(rows); i += 2 {
		if rows[i][0] != rows[i][1] || rows[i][0] != rows[i+1][0] {
			t.Fatalf("start %d changes: %v, %v", i/2, rows[i], rows[i+1])
		}
	}
	if _, d, _ := correlation(rows, 0, 0); math.Abs(d/0.005-1) > 5/math.Sqrt(2*n) {
		t.Errorf("deviation between starts %.5f, want 0.005", d)
	}
}

func TestStepsOfNoiseAreIndependent(t *testing.T) {
	rows := logs(t, Noise{Start: -1, Run: -1, Step: 0.02}, 1, 4000, 0, time.Millisecond)
	rho, d, _ := correlation(rows, 0, 1)
	if math.Abs(rho) > 5/math.Sqrt(4000) || math.Abs(d/0.02-1) > 5/math.Sqrt(4000) {
		t.Errorf("correlation %.3f, deviation %.4f; want 0 and 0.02", rho, d)
	}
}

// TestNoiseDoesNotDependOnHowOftenItIsAsked: a gap in the load leaves the
// noise within a cell as it is, and its law beyond.
func TestNoiseStaysTheSameWithinACell(t *testing.T) {
	n, _ := Noise{}.resolve()
	w := newWeather(n, 1, 0)
	w.since(0)
	a := w.at(0)
	if b := w.at(w.cell - 1); a != b {
		t.Errorf("%v at the start of a cell, %v at its end", a, b)
	}
	if b := w.at(w.cell); a == b {
		t.Error("the next cell has the same noise")
	}
}

func TestQuietEngineHasNoNoise(t *testing.T) {
	for _, row := range logs(t, Quiet, 3, 3, 0, time.Minute) {
		if row[0] != 0 || row[1] != 0 {
			t.Fatalf("noise %v, want none", row)
		}
	}
}

func TestNoiseIsValidated(t *testing.T) {
	for _, row := range []struct {
		noise Noise
		want  string
	}{
		{Noise{Run: 1}, "Noise.Run must be below 1 (0.01 is 1 %), got 1"},
		{Noise{Start: math.NaN()}, "Noise.Start must be below 1 (0.01 is 1 %), got NaN"},
		{Noise{Correlation: -1}, "Noise.Correlation must be positive, got -1ns"},
		{Noise{Start: 2, Step: 3, Correlation: -1}, "Noise.Start must be below 1 (0.01 is 1 %), got 2\n" +
			"Noise.Step must be below 1 (0.01 is 1 %), got 3\nNoise.Correlation must be positive, got -1ns"},
	} {
		if _, err := row.noise.resolve(); err == nil || err.Error() != row.want {
			t.Errorf("%+v: %v, want %q", row.noise, err, row.want)
		}
	}
}
