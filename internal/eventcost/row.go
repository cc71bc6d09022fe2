//go:build linux

package main

import (
	"fmt"
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

	sent, cpus, busy, lag []float64
	first, gaps, all      quantiles
	verdicts, reasons     []string
	failed                string
}

// add takes in one run.
func (r *row) add(journal []nullserver.Request, out offered) error {
	d, err := compare(journal, out.Window)
	if err != nil && r.over == 0 {
		return fmt.Errorf("%s: %w (%s)", r.load(), err, out.Failed)
	}
	r.sent = append(r.sent, d.rate*float64(r.streams))
	r.cpus = append(r.cpus, out.Readings["process_cpus"])
	r.busy = append(r.busy, out.Readings["host_busy_share"])
	r.lag = append(r.lag, out.Readings["lag_p99_sec"])
	r.first.add(d.first)
	r.gaps.add(d.gaps)
	r.all.add(d.all)
	r.verdicts = append(r.verdicts, out.Verdict)
	r.reasons = append(r.reasons, strings.Join(out.Reasons, "; "))
	if r.failed == "" {
		r.failed = out.Failed
	}
	return nil
}

func (r *row) load() string { return fmt.Sprintf("%dx%v", r.streams, r.rate) }

func (r *row) count(verdict string) (n int) {
	for _, v := range r.verdicts {
		if v == verdict {
			n++
		}
	}
	return n
}

// truthHead is above the lines of rows.
var truthHead = func() string {
	errors := fmt.Sprintf("%-27s %-27s %-27s", "TTFT error, µs", "ITL error, µs", "event error, µs")
	of := strings.Repeat(fmt.Sprintf("%-28s", "     p50      p99    p99.9"), 3)
	return fmt.Sprintf("%-10s %-16s %-5s %8s %5s %6s %8s  %s\n%-10s %-16s %-5s %8s %5s %6s %8s  %sverdict\n",
		"streams", "client", "over", "events/s", "host", "client", "lag p99", errors,
		"x events/s", "", "load", "sent", "busy", "CPUs", "µs", of)
}()

func (r *row) line() string {
	over := "no"
	if r.over > 0 {
		over = fmt.Sprintf("%gx", r.over)
	}
	verdicts := slices.Compact(slices.Sorted(slices.Values(r.verdicts)))
	for i, v := range verdicts {
		verdicts[i] = fmt.Sprintf("%s %d of %d", v, r.count(v), len(r.verdicts))
	}
	text := fmt.Sprintf("%-10s %-16s %-5s %8.0f %4.0f%% %6.2f %8.0f  %s %s %s %s\n", r.load(), r.how, over,
		median(r.sent), 100*median(r.busy), median(r.cpus), 1e6*median(r.lag), r.first, r.gaps, r.all, strings.Join(verdicts, ", "))
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

// quantiles are p50, p99 and p99.9 of each turn, in nanoseconds.
type quantiles [3][]float64

func (q *quantiles) add(v []int64) {
	if len(v) == 0 {
		return
	}
	slices.Sort(v)
	for i, p := range []float64{0.5, 0.99, 0.999} {
		q[i] = append(q[i], float64(v[min(int(p*float64(len(v))), len(v)-1)]))
	}
}

// median is that of the turns, of one of the quantiles.
func (q quantiles) median(i int) float64 { return median(q[i]) }

func (q quantiles) String() string {
	var b strings.Builder
	for i := range q {
		fmt.Fprintf(&b, "%8.1f ", q.median(i)/1e3)
	}
	return b.String()
}
