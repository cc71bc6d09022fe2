package arrival

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
)

// every is a process of a user's own: it has a name and a mean rate.
type every struct{ gap time.Duration }

func (e every) Times(uint64) iter.Seq[time.Duration] {
	return Constant{Rate: 1 / e.gap.Seconds()}.Times(0)
}
func (e every) MeanRate(time.Duration) float64 { return 1 / e.gap.Seconds() }

// bare is one without either.
type bare struct{ Poisson float64 }

func (b bare) Times(seed uint64) iter.Seq[time.Duration] { return Poisson{Rate: b.Poisson}.Times(seed) }

func TestSelfTestRefuses(t *testing.T) {
	poisson := take(Poisson{Rate: 4}, 1, 2000)
	rows := []struct {
		name  string
		times []time.Duration
		p     Process
		want  string
	}{
		{"no process", poisson, nil, "no process"},
		{"nothing", nil, Poisson{4}, "the schedule is empty"},
		{"before zero", []time.Duration{-1}, Poisson{4}, "the first arrival is at -1ns"},
		{"out of order", []time.Duration{5, 3}, Poisson{4}, "arrival 1 is at 3ns, before arrival 0 at 5ns"},
		{"a fifth too fast", poisson, Poisson{Rate: 3.2}, "asks for 1518.5 arrivals by the schedule's last one, which is number 2000: chance explains a difference of 337.5, not 481.5"},
		{"a fifth too slow", poisson, Poisson{Rate: 5.2}, "not 467.5"},
		{"constant sent for Poisson", take(Constant{Rate: 4}, 1, 2000), Poisson{4}, "squared coefficient of variation of 1, the schedule has 0.000501: chance explains 0.731 to 1.37"},
		{"Poisson sent for constant", poisson, Constant{4}, "constant 4/s has arrival 0 at"},
		{"Poisson sent for bursty", poisson, Gamma{4, 0.5}, "squared coefficient of variation of 2"},
		{"Poisson sent for regular", poisson, Gamma{4, 2}, "squared coefficient of variation of 0.5"},
		{"rate that does not ramp", poisson, Ramp{0.1, 7.9, 400 * time.Second}, "squared coefficient"},
		{"step at the wrong time", take(Steps{{4, 100 * time.Second}, {8, 0}}, 1, 2000), Steps{{4, 300 * time.Second}, {8, 0}}, "arrivals by the schedule's last one"},
		{"a user's process of another rate", poisson, every{time.Second}, "chance explains"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := SelfTest(row.times, row.p)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got  %v\nwant %s", err, row.want)
			}
		})
	}
	if err := SelfTest(take(every{time.Second}, 0, 500), every{time.Second}); err != nil {
		t.Error(err)
	}
	if err := SelfTest(poisson, bare{1}); err != nil {
		t.Errorf("a process that tells nothing of itself is tested for order only: %v", err)
	}
}

func FuzzSchedules(f *testing.F) {
	f.Add(uint64(1), byte(0), 4.0, 0.5, uint16(1000))
	f.Add(uint64(2), byte(1), 0.001, 3.0, uint16(50))
	f.Add(uint64(3), byte(2), 1e5, 0.02, uint16(5000))
	f.Add(uint64(4), byte(3), 7.0, 100.0, uint16(300))
	f.Add(uint64(5), byte(4), 7.0, 0.3, uint16(700))
	f.Fuzz(func(t *testing.T, seed uint64, kind byte, rate, other float64, n uint16) {
		p := []Process{
			Poisson{rate}, Constant{rate}, Gamma{rate, other},
			Ramp{rate, other, time.Minute}, Steps{{rate, time.Minute}, {other, time.Second}, {rate, 0}},
		}[kind%5]
		times := take(p, seed, int(n))
		if Validate(p) != nil {
			if len(times) != 0 {
				t.Fatal("an invalid process has arrivals")
			}
			return
		}
		if len(times) < int(n) || n == 0 {
			return // 292 years are over
		}
		if err := SelfTest(times, p); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(times, take(p, seed, int(n))) {
			t.Fatal("the same seed gave another schedule")
		}
	})
}
