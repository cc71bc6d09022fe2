package steady

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// served is a request due at a second and done at another.
func served(due, done float64) metric.Timeline {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return metric.Timeline{Scheduled: at(due), FirstToken: at(done), LastToken: at(done), OutputTokens: 100, AskedOutput: 100}
}

// everySecond is a request a second from 1 s on, each of which takes so long,
// with a window of 100 s from 11 s on.
func everySecond(takes float64) *metric.Record {
	r := &metric.Record{From: 11 * time.Second, To: 111 * time.Second}
	for i := range 130 {
		r.Requests = append(r.Requests, served(float64(1+i), float64(1+i)+takes))
	}
	return r
}

func TestSeriesOfARecord(t *testing.T) {
	s, err := Of(everySecond(2.5))
	if err != nil {
		t.Fatal(err)
	}
	if s.Arrivals != 100 || s.Window != 100*time.Second || s.GapCV2 != 0 || s.OutputCV2 != 0 {
		t.Errorf("got %+v", s)
	}
	// Just before each whole second two requests are in flight: those due one
	// and two seconds ago. At both edges alike, whatever is due there.
	for k, n := range s.N {
		if n != 2 {
			t.Errorf("%d in flight at instant %d, want 2", n, k)
		}
	}
	for k, n := range s.Slices {
		if n != 2 {
			t.Errorf("%d in flight at slice %d, want 2", n, k)
		}
	}
	r := everySecond(2.5)
	for k := range instants {
		at := r.From + (r.To-r.From)*time.Duration(k)/(instants-1)
		if got := r.InFlightAt(at); got != s.N[k] {
			t.Errorf("the record has %d in flight at %v, the series %d", got, at, s.N[k])
		}
	}
}

// TestSeriesAgreesWithTheRecord compares all instants of random queues with
// the record's own count.
func TestSeriesAgreesWithTheRecord(t *testing.T) {
	for seed := range uint64(20) {
		r := queues["M/M/1, c² 2"](0.9).run(seed, 50, 150)
		s, err := Of(r)
		if err != nil {
			t.Fatal(err)
		}
		for k, n := range s.N {
			at := r.From + (r.To-r.From)*time.Duration(k)/(instants-1)
			if want := r.InFlightAt(at); n != want {
				t.Fatalf("seed %d: %d in flight at instant %d, want %d", seed, n, k, want)
			}
		}
		for k, n := range s.Slices {
			at := r.From + (r.To-r.From)*time.Duration(k)/slices
			if want := r.InFlightAt(at); n != want {
				t.Fatalf("seed %d: %d in flight at slice %d, want %d", seed, n, k, want)
			}
		}
	}
}

func TestWhatNeverEndedStaysInFlight(t *testing.T) {
	r := everySecond(0.5)
	for i := range 5 { // due before the window, cut by the drain limit
		r.Requests[i].Failure, r.Requests[i].LastToken = metric.Unfinished, 0
	}
	for i := 50; i < 60; i++ { // refused at once
		r.Requests[i].Failure, r.Requests[i].FirstToken, r.Requests[i].LastToken = "refused", 0, 0
	}
	s, err := Of(r)
	if err != nil {
		t.Fatal(err)
	}
	for k, n := range s.N {
		if n != 5 {
			t.Errorf("%d in flight at instant %d, want the 5 that never ended", n, k)
		}
	}
}

func TestVarianceOfLengths(t *testing.T) {
	rows := []struct {
		name string
		set  func(i int, q *metric.Timeline)
		want float64
	}{
		{"equal counts", func(int, *metric.Timeline) {}, 0},
		{"counts of 50 and 150", func(i int, q *metric.Timeline) { q.OutputTokens = 50 + 100*(i%2) }, 0.25 * 100 / 99},
		{"no counts: the lengths asked for", func(i int, q *metric.Timeline) { q.OutputTokens, q.AskedOutput = -1, 50+100*(i%2) }, 0.25 * 100 / 99},
		{"failures count as asked", func(i int, q *metric.Timeline) {
			q.AskedOutput = 50 + 100*(i%2)
			q.OutputTokens = q.AskedOutput
			if i%4 == 0 {
				q.Failure, q.OutputTokens = "reset", 3
			}
		}, 0.25 * 100 / 99},
		{"neither: as exponential lengths", func(i int, q *metric.Timeline) { q.OutputTokens, q.AskedOutput = -1, -1 }, 1},
	}
	for _, row := range rows {
		r := everySecond(2.5)
		for i := range r.Requests {
			row.set(i, &r.Requests[i])
		}
		s, err := Of(r)
		if err != nil || math.Abs(s.OutputCV2-row.want) > 1e-12 {
			t.Errorf("%s: squared CV %v (%v), want %v", row.name, s.OutputCV2, err, row.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	closed := everySecond(2.5)
	closed.InFlight = 64
	if _, err := Of(closed); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed loop: %v", err)
	}
	if _, err := JudgeRecords(everySecond(1), closed); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed loop among open ones: %v", err)
	}
	short := everySecond(1)
	short.To = short.From + 19*time.Second
	for name, row := range map[string]struct {
		judge func() error
		want  string
	}{
		"a short window": {func() error { _, err := Of(short); return err }, "steady: 19 arrivals in a window of 19s: the verdict needs at least 20"},
		"no window":      {func() error { _, err := Of(&metric.Record{}); return err }, "steady: 0 arrivals in a window of 0s: the verdict needs at least 20"},
		"no runs":        {func() error { _, err := Judge(); return err }, "steady: no runs to judge"},
		"an empty series": {func() error { _, err := Judge(Series{Arrivals: 100, Window: 1}, Series{}); return err },
			"steady: run 1 has 0 arrivals in a window of 0s: the verdict needs at least 20"},
	} {
		if err := row.judge(); err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
}
