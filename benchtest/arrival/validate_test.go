package arrival

import (
	"math"
	"testing"
	"time"
)

func TestOneWrongRateIsSaidOnceAndAll(t *testing.T) {
	rows := []struct {
		p    Process
		want string
	}{
		{nil, "arrival: no process: set one, as in arrival.Poisson{Rate: 4}"},
		{Poisson{}, "arrival: Poisson.Rate must be positive and at most 1,000,000/s, got 0: set arrivals per second"},
		{Poisson{Rate: math.NaN()}, "arrival: Poisson.Rate must be positive and at most 1,000,000/s, got NaN: set arrivals per second"},
		{Constant{Rate: math.Inf(1)}, "arrival: Constant.Rate must be positive and at most 1,000,000/s, got +Inf: set arrivals per second"},
		{Gamma{Rate: -1}, "arrival: Gamma.Rate must be positive and at most 1,000,000/s, got -1: set arrivals per second\n" +
			"arrival: Gamma.Burstiness must be at least 0.01 and finite, got 0: 1 is Poisson, lower is burstier"},
		{Gamma{Rate: 1, Burstiness: math.NaN()}, "arrival: Gamma.Burstiness must be at least 0.01 and finite, got NaN: 1 is Poisson, lower is burstier"},
		{Ramp{From: -2, To: 0}, "arrival: Ramp.From must be positive and at most 1,000,000/s, got -2: set arrivals per second\n" +
			"arrival: Ramp.To must be positive and at most 1,000,000/s, got 0: set arrivals per second\n" +
			"arrival: Ramp.Over must be positive, got 0s: set how long the change takes"},
		{Steps{}, "arrival: Steps has no step: set at least one, as in {Rate: 4}"},
		{Steps{{Rate: 2e6}, {Rate: 0, For: -time.Second}}, "arrival: Steps[0].Rate must be positive and at most 1,000,000/s, got 2000000: set arrivals per second\n" +
			"arrival: Steps[0].For must be positive, got 0s: set how long the step lasts\n" +
			"arrival: Steps[1].Rate must be positive and at most 1,000,000/s, got 0: set arrivals per second\n" +
			"arrival: Steps[1].For must be positive, got -1s: set how long the step lasts"},
	}
	for _, row := range rows {
		err := Validate(row.p)
		if err == nil || err.Error() != row.want {
			t.Errorf("%#v:\ngot  %v\nwant %s", row.p, err, row.want)
		}
		if row.p != nil && len(take(row.p, 1, 1)) != 0 {
			t.Errorf("%#v is invalid and has arrivals", row.p)
		}
	}
	for _, p := range processes {
		if err := Validate(p); err != nil {
			t.Error(err)
		}
	}
}

func TestNames(t *testing.T) {
	rows := map[string]Process{
		"none":                     nil,
		"poisson 12.5/s":           Poisson{Rate: 12.5},
		"constant 1000000/s":       Constant{Rate: 1e6},
		"gamma 4/s burstiness 0.5": Gamma{Rate: 4, Burstiness: 0.5},
		"ramp 2/s to 8/s over 30s": Ramp{From: 2, To: 8, Over: 30 * time.Second},
		"steps 4/s for 30s, 8/s for 1m0s, then 2/s": Steps{{4, 30 * time.Second}, {8, time.Minute}, {2, 0}},
		"steps 4/s":               Steps{{4, 0}},
		"arrival.bare{Poisson:3}": bare{3},
	}
	for want, p := range rows {
		if got := String(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
