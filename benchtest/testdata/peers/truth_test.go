//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/openloop-go/openloop/internal/nullserver"
)

const msec = int64(time.Millisecond)

func TestTruthOfAJournal(t *testing.T) {
	requests := []nullserver.Request{
		// Out of order, as two connections can be read.
		{ID: "b", Asked: 3, Stream: true, Whole: true, Arrival: 110 * msec, Sent: []int64{160 * msec, 180 * msec, 210 * msec}},
		{ID: "a", Asked: 3, Stream: true, Whole: true, Fresh: true, Arrival: 100 * msec, Sent: []int64{140 * msec, 160 * msec, 180 * msec}},
		{ID: "ready?", Asked: 1, Stream: true, Whole: true, Arrival: 1 * msec, Sent: []int64{2 * msec}},
		{ID: "cut", Asked: 3, Stream: true, Arrival: 130 * msec, Sent: []int64{190 * msec}},
		{ID: "unanswered", Asked: 3, Stream: true, Arrival: 140 * msec},
	}
	got := truthOf(requests, 3, nil)
	if got.Requests != 3 || got.Broken != 1 || got.Events != 7 || got.Connections != 1 || got.InFlight != 3 {
		t.Errorf("requests, broken, events, connections, in flight: %d, %d, %d, %d, %d, want 3, 1, 7, 1, 3",
			got.Requests, got.Broken, got.Events, got.Connections, got.InFlight)
	}
	if got.From != 100*msec || got.To != 210*msec {
		t.Errorf("from %d to %d, want the first arrival and the last event", got.From, got.To)
	}
	// TTFT 40 and 50; gaps 20, 20, 20, 30; means 20 and 25. The reply that was
	// cut has none of them.
	for _, c := range []struct {
		what      string
		got, want dist
	}{
		{"TTFT", got.TTFT, dist{45, 45, 49.9}},
		{"gaps", got.Gaps, dist{22.5, 20, 29.7}},
		{"mean gaps", got.Means, dist{22.5, 22.5, 24.95}},
	} {
		if d := c.got.minus(c.want); math.Abs(d.Mean)+math.Abs(d.P50)+math.Abs(d.P99) > 1e-9 {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
	// Three arrivals at 0, 10, 30 ms: gaps of 10 and 20, mean 15, variance 50.
	if math.Abs(got.Rate-2/0.030) > 1e-9 || math.Abs(got.CV2-50.0/225) > 1e-9 {
		t.Errorf("rate %v, CV² %v, want %v and %v", got.Rate, got.CV2, 2/0.030, 50.0/225)
	}
	if only := truthOf(requests, 3, []string{"a"}); only.Requests != 1 || only.TTFT.P50 != 40 {
		t.Errorf("of one request: %d requests, TTFT %v, want 1 and 40", only.Requests, only.TTFT.P50)
	}
}

func TestDispersionOfCountsSeesRepeatedGaps(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	var poisson, repeated []float64
	a, b := 0.0, 0.0
	for range 2000 {
		gap := source.ExpFloat64()
		for range 10 {
			a, b = a+source.ExpFloat64(), b+gap
			poisson, repeated = append(poisson, a), append(repeated, b)
		}
	}
	if got := countDispersion(poisson, perWindow); math.Abs(got-1) > 0.15 { // five standard errors
		t.Errorf("variance ÷ mean of a Poisson process's counts is %v, want 1", got)
	}
	if got := countDispersion(repeated, perWindow); got < 3 {
		t.Errorf("variance ÷ mean where each gap comes ten times is %v, want well above 1", got)
	}
	if _, got := dispersion(repeated); math.Abs(got-1) > 0.25 {
		t.Errorf("CV² of the same gaps is %v, want about 1", got)
	}
}

func TestWhatIsNotKnownIsNoNumber(t *testing.T) {
	empty := truthOf(nil, 3, nil)
	for what, x := range map[string]float64{
		"TTFT": empty.TTFT.P50, "rate": empty.Rate, "CV²": empty.CV2, "median": median([]float64{math.NaN()}),
	} {
		if !math.IsNaN(x) {
			t.Errorf("%s of nothing is %v, want none", what, x)
		}
	}
}

func TestProcessorTimeOfAChild(t *testing.T) {
	began := nullserver.Now()
	// The shell's child burns what the meter must see.
	cmd := exec.Command("sh", "-c", `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; sleep 0.6`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m := measure(cmd.Process.Pid, began)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	used := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	m.end(used)
	if got := m.between(began, m.at[len(m.at)-1]); math.Abs(got-used) > 1e-9 {
		t.Errorf("%v s between start and end, want %v", got, used)
	}
	if _, ok := processorTime(os.Getpid()); !ok {
		t.Error("this process has no processor time")
	}
}
