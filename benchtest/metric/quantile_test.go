package metric

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// upTo is 1, 2, … n.
func upTo(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

func TestQuantileIsOneOfTheValuesByNearestRank(t *testing.T) {
	rows := []struct {
		n    int
		p    float64
		want float64 // 0: refused
		text string
	}{
		{2, 0.5, 1, ""},
		{1, 0.5, 0, "p50 of 1 values is their maximum: needs 2"},
		{1, 1, 1, ""},
		{6, 0.9, 0, "p90 of 6 values is their maximum: needs 10"},
		{10, 0.9, 9, ""},
		{10, 0.95, 0, "p95 of 10 values is their maximum: needs 20"},
		{19, 0.95, 0, "p95 of 19 values is their maximum: needs 20"},
		{20, 0.95, 19, ""},
		{20, 0.9, 18, ""},
		{99, 0.99, 0, "p99 of 99 values is their maximum: needs 1,000"},
		{100, 0.99, 0, "p99 of 100 values: needs 1,000"},
		{300, 0.99, 0, "p99 of 300 values: needs 1,000"},
		{999, 0.99, 0, "p99 of 999 values: needs 1,000"},
		{1000, 0.99, 990, ""},
		{1000, 0.999, 0, "p99.9 of 1,000 values: needs 10,000"},
		{10_000, 0.999, 9990, ""},
		{100, 0.07, 7, ""}, // 0.07·100 is a little above 7 in floating point
		{7, 0.5, 4, ""},
		{40, 0.975, 39, ""},
	}
	for _, row := range rows {
		v, err := Quantile(upTo(row.n), row.p)
		if row.text == "" {
			if err != nil || v != row.want {
				t.Errorf("p%v of 1…%d is %v (%v), want %v", 100*row.p, row.n, v, err, row.want)
			}
			continue
		}
		if few := (*TooFew)(nil); !errors.As(err, &few) || err.Error() != row.text {
			t.Errorf("p%v of 1…%d: %v, %v, want %q", 100*row.p, row.n, v, err, row.text)
		}
	}
}

func TestQuantileRefuses(t *testing.T) {
	rows := []struct {
		name   string
		values []float64
		p      float64
		want   string
	}{
		{"nothing", nil, 0.5, "metric: no values to take a quantile of"},
		{"NaN", []float64{1, math.NaN(), 3}, 0.5, "metric: value 1 of 3 is NaN: leave out what was not measured"},
		{"NaN first, where a sort puts it", []float64{math.NaN(), 1, 3}, 0.5, "metric: value 0 of 3 is NaN: leave out what was not measured"},
		{"out of order", []float64{1, 3, 2}, 0.5, "metric: value 2 is 2 after 3: sort the values first"},
		{"p as a percentage", upTo(10), 50, "metric: a quantile must be above 0 and at most 1, got 50"},
		{"p of zero", upTo(10), 0, "metric: a quantile must be above 0 and at most 1, got 0"},
		{"p that is no number", upTo(10), math.NaN(), "metric: a quantile must be above 0 and at most 1, got NaN"},
	}
	for _, row := range rows {
		if v, err := Quantile(row.values, row.p); err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, %v, want %q", row.name, v, err, row.want)
		}
	}
}

func FuzzQuantile(f *testing.F) {
	f.Add([]byte{3, 1, 2}, 0.5)
	f.Add([]byte{9, 9, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0}, 0.9)
	f.Fuzz(func(t *testing.T, bytes []byte, p float64) {
		values := make([]float64, len(bytes))
		for i, b := range bytes {
			values[i] = float64(b)
		}
		slices.Sort(values)
		v, err := Quantile(values, p)
		if err != nil {
			return
		}
		atOrBelow, below := 0, 0
		for _, x := range values {
			if x <= v {
				atOrBelow++
			}
			if x < v {
				below++
			}
		}
		n := float64(len(values))
		if !slices.Contains(values, v) || float64(atOrBelow) < p*n-1e-6 || float64(below) >= p*n {
			t.Fatalf("p%v of %v is %v", p, values, v)
		}
	})
}

// TestPoolingMergesValues: the quantile of two runs together is neither the
// mean nor the worst of theirs.
func TestPoolingMergesValues(t *testing.T) {
	run := func(n int, ttft time.Duration) *Record {
		r := &Record{From: time.Second, To: time.Minute}
		for range n {
			q := streamed(1, 1, int(ttft/ms))
			r.Requests = append(r.Requests, q)
		}
		return r
	}
	quick, slow := run(1000, 10*ms), run(10, 2000*ms)
	if v, err := PooledValue("p95-ttft-sec", quick, slow); err != nil || v != 0.010 {
		t.Errorf("p95 of 1,000 × 10 ms and 10 × 2 s is %v (%v), want 0.01", v, err)
	}
	if v, err := PooledValue("max-ttft-sec", quick, slow); err != nil || v != 2 {
		t.Errorf("max is %v (%v), want 2", v, err)
	}
	if v, err := PooledValue("p95-ttft-sec"); err == nil {
		t.Errorf("no runs at all have a p95 of %v", v)
	}
}
