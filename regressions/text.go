package regressions

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// Text is the verdict in several lines, ending without a newline: what and by
// how much, then the two arms, what these runs could have shown, what else
// moved, what was gated by which test, the point, and what to do.
func (v Verdict) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.Status, v.Reason)
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n    %-10s %s", label, text)
		}
	}
	old, now := v.arms()
	line(v.old.name, old)
	line("candidate", now)
	line("builds", v.builds)
	line("changed", v.changed)
	line("control", v.control)
	line("could see", v.couldSee())
	line("also", v.also())
	line("gated", v.gatedLine())
	line("watched", v.margins(Watched))
	line("design", v.design)
	line("at", v.at)
	for _, note := range v.notes {
		line("note", note)
	}
	line("next", v.Remedy)
	return b.String()
}

// arms are the lines of baseline and candidate, their columns aligned.
func (v Verdict) arms() (old, now string) {
	if v.headline < 0 || v.headline >= len(v.Findings) {
		return v.baseline.String(), v.candidate.String()
	}
	f := v.Findings[v.headline]
	v.baseline.compared, v.candidate.compared = f.Baseline.Runs, f.Candidate.Runs
	old, now = v.baseline.String(), v.candidate.String()
	a, b := f.row(f.Baseline), f.row(f.Candidate)
	width := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	pad := func(s string) string { return s + strings.Repeat(" ", width-utf8.RuneCountInString(s)+3) }
	return pad(a) + old, pad(b) + now
}

func (f Finding) row(s Summary) string {
	return quantity(f.def, s.Mean) + " ± " + spread(f.def, s)
}

// String is "12 runs, 6 starts, 2026-11-20, commit 3f2c9a1".
func (s side) String() string {
	if s.runs == 0 {
		return ""
	}
	parts := []string{plural(s.runs, "run"), plural(s.starts, "start")}
	if s.compared > 0 && s.compared < s.runs {
		parts[0] += fmt.Sprintf(" (%d compared)", s.compared)
	}
	switch {
	case s.virtual:
		parts = append(parts, "virtual time")
	case !s.recorded.IsZero():
		parts = append(parts, s.recorded.UTC().Format("2006-01-02"))
	}
	if s.commit != "" {
		parts = append(parts, "commit "+s.commit[:min(len(s.commit), 7)])
	}
	if s.remark != "" {
		parts = append(parts, s.remark)
	}
	return strings.Join(parts, ", ")
}

func (v Verdict) couldSee() string {
	if v.headline < 0 {
		return ""
	}
	f := v.Findings[v.headline]
	if f.Role == Guard {
		return ""
	}
	return fmt.Sprintf("%s (MDE of these runs at the gate's level, power 80 %%; significant from %s on); the gate calls %s or more regressed",
		f.rough(f.MDE), f.rough(f.Significant), f.rough(f.Smallest))
}

// also are the findings that the headline is not about.
func (v Verdict) also() string {
	var parts []string
	for i, f := range v.Findings {
		if i == v.headline {
			continue
		}
		switch {
		case f.Metric == errorRate:
			parts = append(parts, f.errors())
		case f.Role == Reported:
			parts = append(parts, fmt.Sprintf("%s %s (not gated)", f.Metric, f.moved()))
		case f.Status == Invalid:
			parts = append(parts, fmt.Sprintf("%s %s (suspicious)", f.Metric, f.moved()))
		default:
			parts = append(parts, fmt.Sprintf("%s %s (%s)", f.Metric, f.moved(), f.Status))
		}
	}
	return strings.Join(parts, " · ")
}

func (f Finding) errors() string {
	old, now := f.Baseline.Mean, f.Candidate.Mean
	switch {
	case old == 0 && now == 0:
		return "error rate 0"
	case old == now:
		return "error rate " + percent(now)
	}
	return fmt.Sprintf("error rate %s → %s %s", percent(old), percent(now), f.def.Words(old, now))
}

func (v Verdict) gatedLine() string {
	metrics := v.margins(Gated, Guard)
	if metrics == "" {
		return ""
	}
	share := ""
	if v.Comparisons > 1 {
		share = fmt.Sprintf(" over %d comparisons", v.Comparisons)
	}
	return fmt.Sprintf("%s; false alarms %s a job%s, p ≤ %.2g a look",
		metrics, percent(v.FalseAlarms), share, v.Level)
}

// margins are the metrics of these roles with what is tolerated of each.
func (v Verdict) margins(roles ...Role) string {
	var parts []string
	for _, f := range v.Findings {
		name := f.Metric
		if f.Role == Guard {
			name = "error rate"
		}
		if slices.Contains(roles, f.Role) {
			parts = append(parts, name+" "+f.size(f.Margin))
		}
	}
	return strings.Join(parts, " · ")
}

// describe fills in what the text tells of the arms and the point.
func (v *Verdict) describe(base *Baseline, cand Arm) {
	if base != nil {
		v.baseline = side{runs: len(base.Runs), starts: base.starts(), recorded: base.Recorded, commit: base.Commit, virtual: base.Virtual}
	}
	switch {
	case base == nil:
	case v.old.control():
		v.builds = builds(base.Arm, cand)
	default:
		v.changed = changed(base.Arm, cand)
	}
	v.candidate = side{runs: len(cand.Runs), starts: cand.starts(), virtual: false}
	v.at = at(cand.Point)
}

// at is the point on one line.
func at(point []metric.Pair) string {
	p := values(point)
	var parts []string
	switch {
	case p["arrivals"] != "":
		parts = append(parts, p["arrivals"])
	case p["in-flight"] == "1":
		parts = append(parts, "serial, closed loop")
	case p["in-flight"] != "":
		parts = append(parts, "closed loop, "+p["in-flight"]+" in flight")
	}
	if p["workload"] != "" {
		parts = append(parts, p["workload"])
	}
	switch {
	case p["requests"] != "":
		parts = append(parts, p["requests"]+" requests a run")
	case p["window"] != "":
		parts = append(parts, "windows of "+p["window"])
	}
	if p["client-limit"] != "" {
		parts = append(parts, "client limit "+p["client-limit"])
	}
	return strings.Join(parts, ", ")
}
