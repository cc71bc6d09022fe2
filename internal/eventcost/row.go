//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// row is what was measured of one load, by one client, in turns.
type row struct {
	how     string
	streams int
	rate    float64
	// over is how many times what its CPU can do the client is offered; zero is
	// no overload. Sharers are who share that CPU, the client included, and
	// needs is what the client takes of one that it has alone.
	over    float64
	sharers int
	needs   float64

	turns  []turn
	failed string
}

// turn is one run of a row.
type turn struct {
	host
	sent, lag        float64 // events/s that the server sent; p99 in seconds
	first, gaps, all [3]float64
	verdict, reasons string
}

// add takes in one run, whose server took so many CPUs for an event a second.
func (r *row) add(journal []nullserver.Request, out offered, server time.Duration) error {
	d, err := compare(journal, out.Window)
	if err != nil && r.over == 0 {
		return fmt.Errorf("%s: %w (%s)", r.load(), err, out.Failed)
	}
	events := 0
	for _, q := range journal {
		events += len(q.Sent)
	}
	sent := d.rate * float64(r.streams)
	r.turns = append(r.turns, turn{
		host: hostOf(out, server.Seconds()/float64(max(events, 1))*sent, calmWide), sent: sent, lag: reading(out, "lag_p99_sec"),
		first: quantiles(d.first), gaps: quantiles(d.gaps), all: quantiles(d.all),
		verdict: out.Verdict, reasons: strings.Join(out.Reasons, "; "),
	})
	if r.failed == "" {
		r.failed = out.Failed
	}
	return nil
}

// reading is NaN where there is none.
func reading(out offered, name string) float64 {
	if v, known := out.Readings[name]; known {
		return v
	}
	return math.NaN()
}

func (r *row) load() string { return fmt.Sprintf("%dx%v", r.streams, r.rate) }

// count is the number of turns with a verdict.
func (r *row) count(verdict string) (n int) {
	for _, t := range r.turns {
		if t.verdict == verdict {
			n++
		}
	}
	return n
}

// truthHead is above the lines of rows. How long a thread of the client waited
// for a CPU is what calm turns are told by.
var truthHead = func() string {
	errors := fmt.Sprintf("%-27s %-27s %-27s", "TTFT error, µs", "ITL error, µs", "event error, µs")
	of := strings.Repeat(fmt.Sprintf("%-28s", "     p50      p99    p99.9"), 3)
	return fmt.Sprintf("%-10s %-16s %-5s %6s %8s %7s %6s %6s %8s  %s\n%-10s %-16s %-5s %6s %8s %7s %6s %6s %8s  %sverdict, all turns\n",
		"streams", "client", "over", "calm", "events/s", "waited", "server", "client", "lag p99", errors,
		"x events/s", "", "load", "turns", "sent", "µs each", "CPUs", "CPUs", "µs", of)
}()

func (r *row) line() string {
	over := "no"
	runs, calm := judged(r.turns)
	calmTurns := fmt.Sprintf("0/%d", len(r.turns))
	if calm {
		calmTurns = fmt.Sprintf("%d/%d", len(runs), len(r.turns))
	}
	if r.over > 0 { // the host's other CPU is the server's, and this one is full
		over, runs, calmTurns = fmt.Sprintf("%gx", r.over), r.turns, "-"
	}
	three := func(of func(turn) [3]float64) string {
		var b strings.Builder
		for i := range 3 {
			fmt.Fprintf(&b, "%8.1f ", medianOf(runs, func(t turn) float64 { return of(t)[i] })/1e3)
		}
		return b.String()
	}
	text := fmt.Sprintf("%-10s %-16s %-5s %6s %8.0f %7.1f %6.2f %6.2f %8.0f  %s %s %s %s\n", r.load(), r.how, over, calmTurns,
		medianOf(runs, func(t turn) float64 { return t.sent }), medianOf(runs, func(t turn) float64 { return float64(t.wait) / 1e3 }),
		medianOf(runs, func(t turn) float64 { return t.server }), medianOf(runs, func(t turn) float64 { return t.client }),
		1e6*medianOf(runs, func(t turn) float64 { return t.lag }),
		three(func(t turn) [3]float64 { return t.first }), three(func(t turn) [3]float64 { return t.gaps }),
		three(func(t turn) [3]float64 { return t.all }), verdicts(r.turns, func(t turn) string { return t.verdict }))
	if r.failed != "" {
		text += fmt.Sprintf("%-10s requests failed, the first: %s\n", "", r.failed)
	}
	return text
}

// distances are those of a client's times from the server's, in nanoseconds,
// without their signs.
type distances struct {
	first, gaps, all []int64
	// rate is the events per second that the server sent on a stream.
	rate float64
}

// compare puts each event's times together. An error says what is missing.
func compare(journal []nullserver.Request, window []asked) (d distances, err error) {
	sent := map[string][]int64{}
	for _, r := range journal {
		sent[r.ID] = r.Sent
	}
	events, took := 0, int64(0)
	for _, a := range window {
		s := sent[a.ID]
		if len(a.Events) != len(s) || len(s) == 0 {
			err = fmt.Errorf("request %s: %d events were sent and %d seen", a.ID, len(s), len(a.Events))
			continue
		}
		events += len(s) - 1
		took += s[len(s)-1] - s[0]
		for i := range s {
			late := a.Events[i] - s[i]
			if d.all = append(d.all, distance(late)); i == 0 {
				d.first = append(d.first, distance(late))
			} else {
				d.gaps = append(d.gaps, distance(late-(a.Events[i-1]-s[i-1])))
			}
		}
	}
	d.rate = float64(events) / max(time.Duration(took).Seconds(), 1e-9)
	return d, err
}

func distance(n int64) int64 { return max(n, -n) }

// quantiles are p50, p99 and p99.9 in nanoseconds, of values that it sorts.
func quantiles(v []int64) (q [3]float64) {
	slices.Sort(v)
	for i, p := range []float64{0.5, 0.99, 0.999} {
		if q[i] = math.NaN(); len(v) > 0 {
			q[i] = float64(v[min(int(p*float64(len(v))), len(v)-1)])
		}
	}
	return q
}
