//go:build linux

package main

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// line is a measured run on one line.
func (m measured) line() string {
	if m.err != nil {
		return fmt.Sprintf("%s at %v: %v", m.client, m.load, m.err)
	}
	ttft, itl := m.said.TTFT.minus(m.truth.TTFT), m.said.ITL.minus(m.truthITL)
	return fmt.Sprintf("%s at %v: %s µs/event, %s CPU s in all, %d requests of %d (said %d) on %d connections, sent/offered %s, CV² %s, counts %s, "+
		"TTFT %s of %s ms, ITL %s of %s ms%s",
		m.client, m.load, digits(m.cost(), 1), digits(m.whole, 1), m.truth.Requests, m.load.Requests, m.said.Requests, m.truth.Connections,
		digits(m.achieved(), 3), digits(m.truth.CV2, 2), digits(m.truth.Counts, 2),
		three(ttft), three(m.truth.TTFT), three(itl), three(m.truthITL), strings.Join(append([]string{""}, m.said.Notes...), "; "))
}

// cost is microseconds of processor time per event, while the load was on.
func (m measured) cost() float64 { return m.under / float64(m.truth.Events) * 1e6 }

func (m measured) achieved() float64 { return m.truth.Rate / m.load.Rate }

// dispersions are those of what was sent; they mean nothing in a closed loop.
func dispersions(runs []measured) string {
	if runs[0].said.Closed {
		return "–"
	}
	return digits(over(runs, func(m measured) float64 { return m.truth.CV2 }), 2) + ", " +
		digits(over(runs, func(m measured) float64 { return m.truth.Counts }), 2)
}

// print writes the tables. Each number is the median of the repeats.
func (c *comparison) print(w io.Writer, before string) {
	fmt.Fprintf(w, "%d CPUs, load average %s before and %s after (1, 5, 15 min); %d runs of each in turns, medians; "+
		"the server, in a process of its own on the same host, sends the first event after %v and then %s events/s.\n\n",
		runtime.NumCPU(), before, loadAverage(), c.repeats, c.first, number(c.rate))
	fmt.Fprintln(w, "| load | client | CPU µs/event | CPU s besides | in flight | sent ÷ offered | CV², counts | TTFT error, ms: mean, p50, p99 | ITL error, ms: mean, p50, p99 |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, l := range c.loads {
		title := fmt.Sprintf("%v (about %.0f streams)", l, l.streams(c.rate, c.first.Seconds()))
		for _, name := range c.names(l) {
			runs := c.of(name, l)
			if runs == nil {
				fmt.Fprintf(w, "| %s | %s | – | – | – | – | – | – | – |\n", title, name)
			} else {
				mark := ""
				if runs[0].said.Means {
					mark = " ¹"
				}
				fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s%s |\n", title, name,
					digits(over(runs, measured.cost), 1),
					digits(over(runs, func(m measured) float64 { return m.whole - m.under }), 1),
					digits(over(runs, func(m measured) float64 { return float64(m.truth.InFlight) }), 0),
					digits(over(runs, measured.achieved), 3),
					dispersions(runs),
					three(errorOver(runs, func(m measured) (dist, dist) { return m.said.TTFT, m.truth.TTFT })),
					three(errorOver(runs, func(m measured) (dist, dist) { return m.said.ITL, m.truthITL })), mark)
			}
			title = ""
		}
	}
	fmt.Fprintln(w, "\n¹ ITL is here the mean gap of each request, which is what this client calls so; the others' is of all gaps.")
	for _, l := range c.loads {
		n := float64(l.Requests)
		fmt.Fprintf(w, "%v: %d requests a run; a true Poisson process has sent ÷ offered 1 ± %.3f, CV² of the gaps 1 ± %.2f, and "+
			"variance ÷ mean of the counts in windows of %d expected 1 ± %.2f (one standard error of one run).\n",
			l, l.Requests, 1/math.Sqrt(n), 2/math.Sqrt(n), perWindow, math.Sqrt(2*perWindow/n))
	}
	if c.floor > 0 {
		c.printFloor(w)
	}
	fmt.Fprintln(w)
	for _, cl := range c.present(clients(c.places)) {
		if len(cl.Version) > 0 {
			cmd := exec.Command(cl.Version[0], cl.Version[1:]...)
			cmd.Env = append(cmd.Environ(), cl.Env...)
			out, err := cmd.Output()
			if err != nil {
				out = []byte(err.Error())
			}
			fmt.Fprintf(w, "%s: %s\n", cl.Name, strings.TrimSpace(string(out)))
		}
	}
	for _, m := range c.measured {
		if m.err != nil || len(m.said.Notes) > 0 || m.truth.Broken > 0 || m.said.Requests != m.truth.Requests {
			fmt.Fprintf(w, "- %s\n", m.remark())
		}
	}
}

func (c *comparison) printFloor(w io.Writer) {
	fmt.Fprintf(w, "\nWithout streams (%s req/s offered where the client has an open loop; ours asks for a stream of one event):\n\n", number(c.floor))
	fmt.Fprintln(w, "| client | req/s | CPU µs/request | CV², counts | latency error, ms: mean, p50, p99 |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
	l := load{Rate: c.floor, Tokens: 1, Requests: int(c.floor * c.seconds / 2)}
	for _, name := range c.names(l) {
		runs := c.of(name, l)
		if runs == nil {
			fmt.Fprintf(w, "| %s | – | – | – | – |\n", name)
			continue
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", name,
			digits(over(runs, func(m measured) float64 { return m.truth.Rate }), 0), digits(over(runs, measured.cost), 1),
			dispersions(runs),
			three(errorOver(runs, func(m measured) (dist, dist) { return m.said.TTFT, m.truth.TTFT })))
	}
}

// remark is what the tables do not say of a run.
func (m measured) remark() string {
	if m.err != nil {
		return fmt.Sprintf("%s at %v: %v", m.client, m.load, m.err)
	}
	text := fmt.Sprintf("%s at %v", m.client, m.load)
	if m.said.Requests != m.truth.Requests {
		text += fmt.Sprintf(": says %d requests, the server saw %d", m.said.Requests, m.truth.Requests)
	}
	if m.truth.Broken > 0 {
		text += fmt.Sprintf(": %d replies could not be written whole", m.truth.Broken)
	}
	for _, n := range m.said.Notes {
		text += ": " + n
	}
	return text
}

// names are the clients that were measured at a load, in order.
func (c *comparison) names(l load) (names []string) {
	for _, m := range c.measured {
		if m.load == l && !slices.Contains(names, m.client) {
			names = append(names, m.client)
		}
	}
	return names
}

// of is the runs of a client at a load that came to an end.
func (c *comparison) of(name string, l load) (runs []measured) {
	for _, m := range c.measured {
		if m.load == l && m.client == name && m.err == nil {
			runs = append(runs, m)
		}
	}
	return runs
}

func over(runs []measured, of func(measured) float64) float64 {
	var values []float64
	for _, m := range runs {
		values = append(values, of(m))
	}
	return median(values)
}

// errorOver is the median over the runs of what was said less what is true.
func errorOver(runs []measured, of func(measured) (said, truth dist)) dist {
	at := func(part func(dist) float64) float64 {
		return over(runs, func(m measured) float64 {
			said, truth := of(m)
			return part(said.minus(truth))
		})
	}
	return dist{
		at(func(d dist) float64 { return d.Mean }), at(func(d dist) float64 { return d.P50 }), at(func(d dist) float64 { return d.P99 }),
	}
}

// digits writes a number, and a dash for one that is not known.
func digits(x float64, n int) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.*f", n, x)
}

func three(d dist) string {
	return digits(d.Mean, 2) + ", " + digits(d.P50, 2) + ", " + digits(d.P99, 2)
}
