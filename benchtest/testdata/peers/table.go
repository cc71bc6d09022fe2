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
		"the server, in a process of its own on the same host, sends the first event %v after a request's first bytes and then %s events/s.\n\n",
		runtime.NumCPU(), before, loadAverage(), c.repeats, c.first, number(c.rate))
	fmt.Fprintln(w, "| load | client | CPU µs per event | CPU s besides | in flight | sent ÷ offered | dispersion of gaps, of counts | the server's own TTFT p50, p99 and ITL p50, ms | error of TTFT, ms: mean, p50, p99 | error of ITL, ms: mean, p50, p99 |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, l := range c.loads {
		title := fmt.Sprintf("%v (about %.0f streams)", l, min(l.streams(c.rate, c.first.Seconds()), float64(l.Requests)))
		for _, name := range c.names(l) {
			runs := c.of(name, l)
			if runs == nil {
				fmt.Fprintf(w, "| %s | %s | – | – | – | – | – | – | – | – |\n", title, name)
			} else {
				mark := ""
				if runs[0].said.Means {
					mark = " ¹"
				}
				fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s, %s, %s | %s | %s%s |\n", title, name,
					digits(over(runs, measured.cost), 1),
					digits(over(runs, func(m measured) float64 { return m.whole - m.under }), 1),
					digits(over(runs, func(m measured) float64 { return float64(m.truth.InFlight) }), 0),
					digits(over(runs, measured.achieved), 3),
					dispersions(runs),
					digits(over(runs, func(m measured) float64 { return m.truth.TTFT.P50 }), 1),
					digits(over(runs, func(m measured) float64 { return m.truth.TTFT.P99 }), 1),
					digits(over(runs, func(m measured) float64 { return m.truth.Gaps.P50 }), 1),
					three(errorOver(runs, func(m measured) (dist, dist) { return m.said.TTFT, m.truth.TTFT })),
					three(errorOver(runs, func(m measured) (dist, dist) { return m.said.ITL, m.truthITL })), mark)
			}
			title = ""
		}
	}
	fmt.Fprintf(w, "\n**CPU**: of all the client's processes; per event while the load is on, and besides, to start, to make prompts and to report. "+
		"**In flight**: the most at a time, as the server saw it. **Dispersion**: 1 is Poisson; the squared coefficient of variation of the gaps "+
		"between requests as they reached the server, and variance ÷ mean of their number in windows of %d expected. **The server's own** TTFT is %v and its ITL %s ms, "+
		"and more where the client leaves the server too little of the CPUs that they share. **Error**: the mean, median and p99 that the client reports less "+
		"those of the server's own stamps of the same requests; openloop's TTFT runs from the schedule, the others' from sending.\n",
		perWindow, c.first, number(1000/c.rate))
	fmt.Fprintln(w, "\n¹ ITL is here the mean gap of each request, which is what this client calls so; the others' is of all gaps.")
	fmt.Fprintln(w, "\nSampling error, one standard error of a single run of a true Poisson process:")
	fmt.Fprintln(w)
	for _, l := range c.loads {
		n := float64(l.Requests)
		fmt.Fprintf(w, "- %v, %d requests: sent ÷ offered 1 ± %.3f, dispersion of gaps 1 ± %.2f, of counts 1 ± %.2f\n",
			l, l.Requests, 1/math.Sqrt(n), 2/math.Sqrt(n), math.Sqrt(2*perWindow/n))
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
	c.printRemarks(w)
}

// printRemarks prints what the tables do not say, each once.
func (c *comparison) printRemarks(w io.Writer) {
	var texts []string
	times := map[string]int{}
	for _, m := range c.measured {
		if m.err != nil || len(m.said.Notes) > 0 || m.truth.Broken > 0 || m.said.Requests != m.truth.Requests {
			text := m.remark()
			if times[text]++; times[text] == 1 {
				texts = append(texts, text)
			}
		}
	}
	for _, text := range texts {
		if n := times[text]; n > 1 {
			text += fmt.Sprintf(" (%d runs)", n)
		}
		fmt.Fprintf(w, "- %s\n", text)
	}
}

func (c *comparison) printFloor(w io.Writer) {
	fmt.Fprintf(w, "\nWithout streams (%s req/s offered where the client has an open loop; ours asks for a stream of one event):\n\n", number(c.floor))
	fmt.Fprintln(w, "| client | req/s | CPU µs per request | dispersion of gaps, of counts | error of latency, ms: mean, p50, p99 |")
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
