package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text is the roofline for people.
func (r *roofline) text() string {
	var b strings.Builder
	if r.Host != nil {
		var host []string
		for _, p := range r.Host {
			host = append(host, p.Key+" "+p.Value)
		}
		fmt.Fprintf(&b, "host      %s\n", strings.Join(host, ", "))
	}
	if c := r.Client; c != nil {
		fmt.Fprintf(&b, "client    %s of CPU a request, %s an event (calibrated)\n", micros(c.RequestSec), micros(c.EventSec))
	}
	if r.Holds != nil {
		fmt.Fprintf(&b, "\nshort requests, of one event\n%s", stepTable(r.Requests, false))
		fmt.Fprintf(&b, "\nstreams of %d events/s\n%s\n", perStream, stepTable(r.Events, true))
	}
	if w := r.Streams; w != nil && w.Ended == nil {
		fmt.Fprintf(&b, "at once   %s streams: %s\n", whole1000(float64(w.Streams)), w.Reason)
	} else if w != nil {
		fmt.Fprintf(&b, "at once   %s of %s streams ended well", whole1000(float64(*w.Ended)), whole1000(float64(w.Streams)))
		if w.BytesEach > 0 {
			fmt.Fprintf(&b, ", %.1f KiB of memory each", w.BytesEach/1024)
		}
		fmt.Fprintf(&b, ", all sent within %s\n", micros(w.SentSec))
		if w.Reason != "" {
			fmt.Fprintf(&b, "          %s\n", w.Reason)
		}
	}
	if r.Holds != nil {
		b.WriteString(r.Holds.text(r.Busy))
	}
	if a := r.Asked; a != nil {
		if a.Offered != nil {
			fmt.Fprintf(&b, "\n%s\n", stepTable([]rooflineStep{*a.Offered}, a.Offered.Streams > 0))
		}
		fmt.Fprintf(&b, "asked     %s\n", a.Why)
		if r.Busy != "" {
			fmt.Fprintf(&b, "          of a busy host: %s\n", r.Busy)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note      %s\n", n)
	}
	return b.String()
}

// stepTable is a row a step, in order of load, and under them why those were not
// held that were not.
func stepTable(steps []rooflineStep, streams bool) string {
	head := [][2]string{
		{"", "streams"}, {"", "requests/s"}, {"", "events/s"}, {"", "for"}, {"achieved", "÷ offered"}, {"lag", "p50"}, {"", "p99"}, {"", "max"},
		{"events", "late p50"}, {"", "p99"}, {"client", "CPUs"}, {"host", "busy"}, {"", "client"},
	}
	var rows [][]string
	var why strings.Builder
	steps = slices.Clone(steps)
	slices.SortStableFunc(steps, func(a, b rooflineStep) int { return cmp.Compare(a.Events, b.Events) })
	for _, s := range steps {
		read := func(name string, say func(float64) string) string {
			if v, known := s.Readings[name]; known {
				return say(v)
			}
			return "?"
		}
		rows = append(rows, []string{
			whole1000(s.Streams), fewPerSecond(s.Requests), fewPerSecond(s.Events), seconds(s.WindowSec).Round(10 * time.Millisecond).String(),
			read("achieved", func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }),
			read("lag_p50_sec", micros), read("lag_p99_sec", micros), read("lag_max_sec", micros),
			read("late_p50_sec", micros), read("late_p99_sec", micros),
			read("process_cpus", func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }),
			read("host_busy_share", func(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + " %" }),
			s.Verdict,
		})
		if !s.held() {
			for _, reason := range s.Reasons {
				what, _, _ := strings.Cut(reason, ": ") // without the remedy
				fmt.Fprintf(&why, "   %s events/s: %s\n", fewPerSecond(s.Events), what)
			}
		}
	}
	return columns(head, rows, func(i int) bool { return i > 0 || streams }) + why.String()
}

// micros writes a time in seconds, to the microsecond.
func micros(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d.Abs() < 10*time.Microsecond:
		return d.Round(100 * time.Nanosecond).String()
	case d.Abs() < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d.Abs() < 100*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// perSecond writes a rate, with the decimals that it has.
func perSecond(x float64) string {
	if x == math.Trunc(x) {
		return whole1000(x)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// fewPerSecond writes a rate with decimals only where it is small.
func fewPerSecond(x float64) string {
	if x < 10 {
		return perSecond(math.Round(100*x) / 100)
	}
	return whole1000(x)
}

// whole1000 writes a number without decimals and with commas.
func whole1000(x float64) string {
	s := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural1000 writes a number of things with commas.
func plural1000(n float64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return whole1000(n) + " " + noun
}
