package quickstart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/sim"
)

// The loads that TestWhatEachLoadSees compares.
var (
	closedLoop = benchtest.Point{Workload: chat, Closed: benchtest.Closed{InFlight: 64}, Requests: 2000, Settle: 400}
	quiet      = benchtest.Point{Workload: chat, Arrivals: arrival.Poisson{Rate: 4}, Requests: 2000, Settle: 400}
	knee       = benchtest.Point{Workload: chat, Arrivals: arrival.Poisson{Rate: 12.5}, Requests: 2000, Settle: 400}
	beyond     = benchtest.Point{Workload: chat, Arrivals: arrival.Poisson{Rate: 13.5}, Requests: 2000, Settle: 400}
)

// The same slowdown under four loads, three runs of 2,000 requests each. The
// closed loop slows its own arrivals down and halves what is lost; the open
// loop at the knee doubles it and breaks the goodput bound; past the slowed
// engine's capacity the queue grows without end.
func TestWhatEachLoadSees(t *testing.T) {
	if ci.Race {
		t.Skip("arithmetic in one goroutine, many times slower under the race detector")
	}
	asIs := map[string]sight{}
	slow := map[string]sight{}
	table := &strings.Builder{}
	fmt.Fprintf(table, "%-24s %-8s %10s %10s %10s %12s  %s\n", "load", "decode", "req/s", "p50 TPOT", "p99 TTFT", "goodput", "queue")
	for _, load := range []struct {
		name     string
		point    benchtest.Point
		slowdown float64
	}{
		{"closed, 64 in flight", closedLoop, 1.10},
		{"open, 4 req/s", quiet, 1.10},
		{"open, 12.5 req/s", knee, 1.10},
		{"open, 13.5 req/s", beyond, 1.20},
	} {
		asIs[load.name] = look(t, 1, load.point)
		slow[load.name] = look(t, load.slowdown, load.point)
		fmt.Fprintf(table, "%-24s %-8s %v\n", load.name, "as is", asIs[load.name])
		fmt.Fprintf(table, "%-24s %-8s %v\n", "", fmt.Sprintf("+%.0f %%", 100*(load.slowdown-1)), slow[load.name])
	}
	t.Logf("three runs of 2,000 requests, 2,048 tokens in and 256 out, SLO %v\n%s", slo, table)

	within := func(what string, got, from, to float64) {
		t.Helper()
		if !(from <= got && got <= to) {
			t.Errorf("%s: got %.4g, want %.4g to %.4g", what, got, from, to)
		}
	}
	change := func(load string, of func(sight) float64) float64 { return of(slow[load])/of(asIs[load]) - 1 }
	throughput := func(s sight) float64 { return s.throughput }
	tpot := func(s sight) float64 { return s.tpot }
	tail := func(s sight) float64 { return s.ttft99 }

	// A closed-loop gate at 10 % passes a decode that is 10 % slower.
	within("closed loop, throughput lost", -change("closed, 64 in flight", throughput), 0.03, 0.08)
	// Where it is quiet TPOT shows the slowdown itself, and then some.
	within("4 req/s, p50 TPOT", change("open, 4 req/s", tpot), 0.09, 0.13)
	// At the knee it is doubled, the tail too, and the goodput bound breaks.
	within("12.5 req/s, p50 TPOT", change("open, 12.5 req/s", tpot), 0.15, 0.30)
	within("12.5 req/s, p99 TTFT", change("open, 12.5 req/s", tail), 0.5, 3)
	within("12.5 req/s, goodput as is", asIs["open, 12.5 req/s"].goodput, 11.75, 12.6)
	within("12.5 req/s, goodput slowed", slow["open, 12.5 req/s"].goodput, 5, 11.75)
	// Past capacity the slowed engine's queue grows; the other's does not.
	if got := slow["open, 13.5 req/s"].queue; got != steady.Growing {
		t.Errorf("13.5 req/s, decode +20 %%: the queue is %s, want %s", got, steady.Growing)
	}
	if got := asIs["open, 13.5 req/s"].queue; got == steady.Growing {
		t.Errorf("13.5 req/s as is: the queue is %s", got)
	}
	within("13.5 req/s, goodput collapsed", slow["open, 13.5 req/s"].goodput/asIs["open, 13.5 req/s"].goodput, 0, 0.2)
}

// sight is what three runs at one load show.
type sight struct {
	throughput   float64 // requests completed, per second
	tpot, ttft99 float64 // seconds
	goodput      float64 // requests a second; of an open loop only
	queue        steady.State
}

func (s sight) String() string {
	text := fmt.Sprintf("%10.2f %8.2fms %9.0fms", s.throughput, 1e3*s.tpot, 1e3*s.ttft99)
	if s.queue == "" {
		return text + fmt.Sprintf(" %12s  %s", "-", "-")
	}
	return text + fmt.Sprintf(" %6.2f req/s  %s", s.goodput, s.queue)
}

// look measures three runs on the arithmetic form of the embedded engine,
// which gives what its HTTP form gives in a fraction of the time.
func look(t *testing.T, slowdown float64, p benchtest.Point) sight {
	t.Helper()
	model, err := sim.NewModel(sim.Config{DevMode: true, Seed: 1, DecodeSlowdown: slowdown})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := benchtest.Run(t.Context(), model, p, benchtest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	mean := func(of func(*metric.Record) (float64, error)) float64 {
		sum := 0.0
		for _, record := range runs.Records {
			value, err := of(record)
			if err != nil {
				t.Fatal(err)
			}
			sum += value / float64(len(runs.Records))
		}
		return sum
	}
	value := func(name string) func(*metric.Record) (float64, error) {
		return func(r *metric.Record) (float64, error) { return r.Value(name) }
	}
	s := sight{
		throughput: mean(value("completed-req/s")),
		tpot:       mean(value("p50-tpot-sec")),
		ttft99:     mean(value("p99-ttft-sec")),
	}
	if p.Arrivals == nil {
		return s
	}
	s.goodput = mean(func(r *metric.Record) (float64, error) { return r.Goodput(slo) })
	verdict, err := steady.JudgeRecords(runs.Records...)
	if err != nil {
		t.Fatal(err)
	}
	s.queue = verdict.State
	return s
}
