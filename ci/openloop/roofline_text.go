package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rooflineAnswer is whether the load that was asked about is held.
type rooflineAnswer struct {
	rooflineAsk
	Held bool `json:"held"`
	// Share is what it takes of what was held: of requests and of events
	// together.
	Share float64 `json:"share"`
	Why   string  `json:"why"`
}

// answer holds a load against what was held. Requests and their events take the
// same CPUs, so that their shares add up.
func (r *roofline) answer(ask rooflineAsk) *rooflineAnswer {
	a := &rooflineAnswer{rooflineAsk: ask}
	events := ask.Rate * float64(ask.Tokens)
	load := fmt.Sprintf("%s requests/s of %s", whole1000(ask.Rate), plural(ask.Tokens, "token"))
	if r.Holds.Requests == 0 || r.Holds.Events == 0 {
		a.Why = load + ": not held: not even the first step was"
		return a
	}
	a.Share = ask.Rate/r.Holds.Requests + events/r.Holds.Events
	a.Held = a.Share <= 1
	word := "held"
	switch {
	case a.Held:
	case slices.Contains(r.Holds.Limited, "requests") && slices.Contains(r.Holds.Limited, "events"):
		word = "not held"
	default: // no limit was found
		word = "not shown to be held, since it is more than was tried"
	}
	a.Why = fmt.Sprintf("%s, %s events/s: %s: %s of what was, requests and events together", load, whole1000(events), word, tenths(a.Share))
	return a
}

// text is the roofline for people.
func (r *roofline) text() string {
	var b strings.Builder
	var host []string
	for _, p := range r.Host {
		host = append(host, p.Key+" "+p.Value)
	}
	fmt.Fprintf(&b, "host      %s\n", strings.Join(host, ", "))
	if c := r.Client; c != nil {
		fmt.Fprintf(&b, "client    %s of CPU a request, %s an event (calibrated)\n", micros(c.RequestSec), micros(c.EventSec))
	}
	fmt.Fprintf(&b, "\nshort requests, of one event\n%s", stepTable(r.Requests, false))
	fmt.Fprintf(&b, "\nstreams of %d events/s\n%s\n", perStream, stepTable(r.Events, true))
	if w := r.Streams; w != nil {
		fmt.Fprintf(&b, "at once   %s of %s streams ended well", whole1000(float64(w.Ended)), whole1000(float64(w.Streams)))
		if w.BytesEach > 0 {
			fmt.Fprintf(&b, ", %.1f KiB of memory each", w.BytesEach/1024)
		}
		fmt.Fprintf(&b, ", all sent within %s\n", micros(w.SentSec))
		if w.Reason != "" {
			fmt.Fprintf(&b, "          %s\n", w.Reason)
		}
	}
	fmt.Fprintf(&b, "holds     %s requests/s%s, %s events/s%s, %s streams at once%s\n",
		whole1000(r.Holds.Requests), r.more("requests"), whole1000(r.Holds.Events), r.more("events"), whole1000(float64(r.Holds.Streams)), r.more("streams"))
	b.WriteString("          with the server on this host; each step up is twice the load, so the limit is between\n")
	if r.Asked != nil {
		fmt.Fprintf(&b, "asked     %s\n", r.Asked.Why)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note      %s\n", n)
	}
	return b.String()
}

// more says that the limit was not found.
func (r *roofline) more(of string) string {
	if slices.Contains(r.Holds.Limited, of) {
		return ""
	}
	return " or more"
}

// stepTable is a row a step, and under a row that was not held, why.
func stepTable(steps []rooflineStep, streams bool) string {
	head := [][2]string{
		{"", "streams"}, {"", "requests/s"}, {"", "events/s"}, {"achieved", "÷ offered"}, {"lag", "p50"}, {"", "p99"}, {"", "max"},
		{"events", "late p50"}, {"", "p99"}, {"client", "CPUs"}, {"host", "busy"}, {"", "client"},
	}
	var rows [][]string
	var why strings.Builder
	for _, s := range steps {
		read := func(name string, say func(float64) string) string {
			if v, known := s.Readings[name]; known {
				return say(v)
			}
			return "?"
		}
		rows = append(rows, []string{
			whole1000(s.Streams), whole1000(s.Requests), whole1000(s.Events),
			read("achieved", func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }),
			read("lag_p50_sec", micros), read("lag_p99_sec", micros), read("lag_max_sec", micros),
			read("late_p50_sec", micros), read("late_p99_sec", micros),
			read("process_cpus", func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }),
			read("host_busy_share", func(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + " %" }),
			s.Verdict,
		})
		if !s.held() {
			for _, reason := range s.Reasons {
				fmt.Fprintf(&why, "   %s\n", reason)
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

// whole1000 writes a number without decimals and with commas.
func whole1000(x float64) string {
	s := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
