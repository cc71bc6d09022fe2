package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openloop-go/openloop/regressions"
	"github.com/openloop-go/openloop/regressions/stat"
)

// text is the plan for people: what was asked, a table for each metric, and
// under it what it means.
func (f *forecast) text() string {
	var b strings.Builder
	design := "stored: the runs of a baseline against new ones"
	if f.Design == "interleaved" {
		design = "interleaved: every look has as many new runs of the old build"
	}
	fmt.Fprintf(&b, "%-11s %s\n", "design", design)
	share := ""
	if f.Comparisons > 1 {
		share = fmt.Sprintf(" over %d comparisons", f.Comparisons)
	}
	fmt.Fprintf(&b, "%-11s false alarms %s a job%s; p ≤ %.3g a look for regressed, p ≤ %.3g for pass; power %s\n", "gate",
		percent(float64(f.FalseAlarms)), share, float64(f.LevelRegressed), float64(f.LevelPass), percent(float64(f.Power)))
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "%-11s %s\n", n.Topic, n.Text)
	}
	for _, m := range f.Metrics {
		fmt.Fprintf(&b, "\n%s\n\n%s\n%s\n", m.heading(), m.table(), m.Sentence)
		lines(&b, m.Notes)
		if m.WouldDo != nil {
			fmt.Fprintln(&b, "what would do, each by itself:")
			lines(&b, m.WouldDo)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", legend(f.Power))
	return b.String()
}

func lines(b *strings.Builder, all []advice) {
	for _, a := range all {
		fmt.Fprintf(b, "    %-10s %s\n", a.Topic, a.Text)
	}
}

func legend(power number) string {
	p := percent(float64(power))
	return strings.Join([]string{
		"plain test    the MDE of a two-sided t-test at 5 %, power " + p + ": how many CVs, and times the CV",
		"could see     the slowdown that is significant at the gate's level with power " + p,
		"significant   from here on it is, as measured: a true slowdown of that size is found half the time",
		"regressed     the slowdown that is called so with power " + p + ", which the margin bounds from below",
		"resolves      the smallest margin that an unchanged engine is shown to be within, and its logarithm in CVs",
	}, "\n")
}

func (m *metricForecast) heading() string {
	if m.Runs == 0 {
		return fmt.Sprintf("margin %s, CV %s between runs", m.size(m.Margin), m.size(m.CV))
	}
	name, word := m.Metric, "CV"
	if m.Role == string(regressions.Watched) {
		name += " (watched)"
	}
	if !m.ratio() {
		word = "deviation"
	}
	of := plural(m.Runs, "run")
	if m.Unit == "start" {
		of = fmt.Sprintf("%d starts", m.Starts)
	}
	return fmt.Sprintf("%s, margin %s, %s %s between %s, planned with its upper 80 %% bound %s",
		name, m.size(m.Margin), word, m.amount(float64(m.CV)), of, m.amount(float64(m.PlannedCV)))
}

// table is a row a look.
func (m *metricForecast) table() string {
	slower := m.size(m.Slower.Slowdown) + " slower:"
	arms := "new : stored"
	if m.planner.Layout == stat.Interleaved {
		arms = "new + old"
	}
	head := [][2]string{{m.Unit + "s", arms}, {"engine", "minutes"}, {"plain", "test"}, {"", ""}, {"could", "see"}, {"signifi-", "cant"},
		{"regressed", "from"}, {"resolves", "a margin"}, {"", "of"}, {"unchanged:", "passed"}, {slower, "regressed"}}
	var rows [][]string
	for _, l := range m.Looks {
		rows = append(rows, []string{
			m.short(l), three(float64(l.Minutes)),
			fmt.Sprintf("%.2f CV", float64(l.MDE5InCV)), strconv.FormatFloat(100*float64(l.MDE5), 'f', 2, 64) + " %",
			m.amount(float64(l.CouldSee)), m.amount(float64(l.Line)), m.amount(float64(l.Called)),
			m.amount(float64(l.Margin)), fmt.Sprintf("%.2f CV", float64(l.MarginInCV)),
			chance(l.Passed), chance(l.Caught),
		})
	}
	return columns(head, rows, func(i int) bool { return i != 1 || m.Looks[0].Minutes > 0 })
}

func (m *metricForecast) short(l lookForecast) string {
	if m.planner.Layout == stat.Interleaved {
		return fmt.Sprintf("%d + %d", l.Units, l.Baseline)
	}
	return fmt.Sprintf("%d : %d", l.Units, l.Baseline)
}

// columns sets rows under a head of two lines, aligned at the right.
func columns(head [][2]string, rows [][]string, shown func(column int) bool) string {
	lines := make([]string, 2+len(rows))
	for i, h := range head {
		if !shown(i) {
			continue
		}
		cells := []string{h[0], h[1]}
		for _, row := range rows {
			cells = append(cells, row[i])
		}
		width := 0
		for _, c := range cells {
			width = max(width, utf8.RuneCountInString(c))
		}
		for j, c := range cells {
			lines[j] += "   " + strings.Repeat(" ", width-utf8.RuneCountInString(c)) + c
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
