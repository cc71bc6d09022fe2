//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// patience is how long, of all turns together, a host that is busy with other
// things is waited for.
type patience struct{ left time.Duration }

// calmFor is how long a host is looked at.
const calmFor = time.Second

// How long a thread may wait for a CPU, on average, where the host is calm.
// Threads of a load wait for each other too, so it depends on the load. On two
// cores without other work it was 9 µs at 2,000 requests/s at equal gaps, 11 to
// 14 at a Poisson process's and 15 to 18 in bursts, and the 36 µs of 50,000
// events/s, which take most of two cores, left the stamps as true as they were.
const (
	calmWait   = 20 * time.Microsecond
	calmSteady = 15 * time.Microsecond // arrivals that are not in bursts
	calmWide   = 50 * time.Microsecond // many streams
)

// wait waits until the host is calm, or until there is no patience left.
func (p *patience) wait() error {
	for p.left > 0 {
		each, err := probe(calmFor)
		if err != nil {
			return err
		}
		if p.left -= calmFor; each <= calmWait {
			break
		}
	}
	return nil
}

// host is what CPU there was in a run.
type host struct {
	// client and server are how many CPUs they took, NaN where that is not known.
	client, server float64
	// wait is how long a thread of the client waited for a CPU, on average, and
	// known is false where that is not known.
	wait  time.Duration
	known bool
	// limit is what it may be where the host is calm; zero is calmWait.
	limit time.Duration
}

// hostOf is that of a run, whose server took so many CPUs.
func hostOf(out offered, server float64, limit time.Duration) host {
	h := host{client: reading(out, "process_cpus"), server: server, limit: limit}
	h.wait, h.known = out.Waits.each()
	return h
}

// calm reports whether the client had a CPU whenever it was to run.
func (h host) calm() bool { return h.known && h.wait <= cmp.Or(h.limit, calmWait) }

// judged are the runs while the host was calm, and all where it never was.
func judged[T interface{ calm() bool }](turns []T) (runs []T, calm bool) {
	for _, t := range turns {
		if t.calm() {
			runs = append(runs, t)
		}
	}
	if len(runs) > 0 {
		return runs, true
	}
	return turns, false
}

// unjudged is an error of what could be held against nothing: that is neither a
// pass nor a failure.
type unjudged struct{ error }

// neverCalm says that of a row.
func neverCalm(what string, turns int, limit time.Duration) error {
	return unjudged{fmt.Errorf("%s: in none of %d turns was the host calm (a thread waits %v for a CPU at most, on average), so this is held against nothing", what, turns, limit)}
}

// settled is one error of many. It is unjudged where nothing is worse.
func settled(errs []error) error {
	all := errors.Join(errs...)
	for _, err := range errs {
		if err != nil && !errors.As(err, new(unjudged)) {
			return errors.New(all.Error())
		}
	}
	if all == nil {
		return nil
	}
	return unjudged{all}
}

// medianOf is the median of something of the runs.
func medianOf[T any](turns []T, of func(T) float64) float64 {
	var v []float64
	for _, t := range turns {
		v = append(v, of(t))
	}
	return median(v)
}

// verdicts says how often each verdict came.
func verdicts[T any](turns []T, of func(T) string) (text string) {
	var all []string
	for _, t := range turns {
		all = append(all, of(t))
	}
	slices.Sort(all)
	for _, v := range slices.Compact(slices.Clone(all)) {
		n := 0
		for _, w := range all {
			if w == v {
				n++
			}
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %d of %d", v, n, len(all))
	}
	return text
}
