package arrival

import (
	"testing"
	"time"
)

func TestBurst(t *testing.T) {
	const ms = time.Millisecond
	rows := []struct {
		name  string
		times []time.Duration
		width time.Duration
		want  int
	}{
		{"nothing", nil, ms, 0},
		{"one", []time.Duration{5 * ms}, ms, 1},
		{"all at once", []time.Duration{ms, ms, ms}, ms, 3},
		{"even, ten to a width", take(Constant{Rate: 100}, 0, 1000), 100 * ms, 10},
		{"a width apart is the next interval", []time.Duration{0, 100 * ms}, 100 * ms, 1},
		{"just within", []time.Duration{0, 100*ms - 1}, 100 * ms, 2},
		{"the end bunches", []time.Duration{0, 50 * ms, 200 * ms, 210 * ms, 220 * ms}, 100 * ms, 3},
		{"no width holds one", []time.Duration{0, 0, 1}, 0, 1},
	}
	for _, row := range rows {
		if got := Burst(row.times, row.width); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
