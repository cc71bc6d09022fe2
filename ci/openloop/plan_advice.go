package main

import (
	"fmt"
	"slices"

	"github.com/openloop-go/openloop/regressions"
	"github.com/openloop-go/openloop/regressions/stat"
)

// advice is one line of a plan after its first sentence.
type advice struct {
	Topic string `json:"topic"`
	Text  string `json:"text"`
}

func (m *metricForecast) say(topic, format string, args ...any) {
	m.Notes = append(m.Notes, advice{topic, fmt.Sprintf(format, args...)})
}

// propose adds what would do by itself.
func (m *metricForecast) propose(topic, format string, args ...any) {
	m.WouldDo = append(m.WouldDo, advice{topic, fmt.Sprintf(format, args...)})
}

// advise says what can be resolved, what cannot, and what would do.
func (m *metricForecast) advise(o planOptions, f *forecast) error {
	m.measured()
	if m.Resolvable {
		m.resolved(o, f)
		return nil
	}
	if err := m.find(o, f); err != nil {
		return err
	}
	m.unresolved(o, f)
	return nil
}

// measured is what a reader must know of where the variation comes from.
func (m *metricForecast) measured() {
	switch {
	case m.Runs == 0 && m.CV < m.PlannedCV:
		m.say("floor", "planned with %s: no engine repeats itself better, and the gate believes no smaller variation", m.planned())
	case m.Runs > 0 && m.Unit == "run" && m.Starts >= stat.DriftStarts:
		m.say("starts", "the %d starts differ by %s, which is not in the plan: the gate counts it from %d starts on", m.Starts, m.amount(m.noise.Between), stat.MinStarts)
	}
	if m.Role == string(regressions.Watched) {
		m.say("watched", "it can make a verdict regressed, and need not pass: what it cannot resolve does not count here")
	}
}

// explain says once what holds for all metrics of a baseline.
func (f *forecast) explain() {
	m := f.Metrics[0]
	say := func(topic, format string, args ...any) {
		f.Notes = append(f.Notes, advice{topic, fmt.Sprintf(format, args...)})
	}
	if m.Runs == 0 {
		return
	}
	switch {
	case m.Unit == "start":
		say("starts", "the start is the unit, since the baseline has %d: further runs of one start do not help, further starts do; with the same arrivals the gate may see more than this", m.Starts)
	case m.Starts < stat.DriftStarts:
		say("starts", "%s in the baseline: how much starts differ is not measured, and the plan holds only if they do not; record %d", plural(m.Starts, "start"), stat.MinStarts)
	}
	if m.planner.Layout == stat.Stored {
		say("arrivals", "from 5 runs on the gate pairs runs with the same arrivals, whose differences vary less than the runs: the later looks see more than this")
	}
}

func (m *metricForecast) resolved(o planOptions, f *forecast) {
	units := m.units(o)
	first := units[slices.IndexFunc(units, func(n int) bool { return m.planner.Resolvable(n) <= m.planner.Rule.Margin })]
	cost := m.cost(o, first)
	m.Sentence = fmt.Sprintf("resolvable: from %s on an unchanged engine is shown to be within %s with %s power%s",
		m.arms(first), m.size(m.Margin), percent(float64(f.Power)), cost)
	m.fates()
	last := units[len(units)-1]
	m.say("room", "at %s a margin of %s would do, and at a margin of %s %ss may vary by up to %s",
		m.arms(last), m.size(number(roundUp(float64(m.SmallestMargin)))), m.size(m.Margin), m.Unit, m.amount(roundDown(float64(m.LargestCV))))
}

func (m *metricForecast) unresolved(o planOptions, f *forecast) {
	units := m.units(o)
	last := units[len(units)-1]
	k := m.planner.Resolvable(last) / m.planner.S
	margin := "a margin that no gate has"
	if m.Remedy.Margin > 0 {
		margin = "a margin of at least " + m.size(m.Remedy.Margin)
	}
	runs := fmt.Sprintf("and %d %ss would not do either", m.most(), m.Unit)
	if m.Remedy.Candidate > 0 {
		runs = fmt.Sprintf("or more %ss: %s", m.Unit, m.against(m.Remedy.Candidate, m.Remedy.Baseline))
	}
	m.Sentence = fmt.Sprintf("not resolvable in %s: CV %s needs %s (%.2f × CV is %s in logarithms), %s",
		m.arms(last), m.planned(), margin, k, m.amount(k*m.planner.S), runs)
	if !m.ratio() {
		m.Sentence = fmt.Sprintf("not resolvable in %s: a deviation of %s needs %s, %s", m.arms(last), m.amount(m.planner.S), margin, runs)
	}
	m.bounds(last)
	m.fates()
	if m.Remedy.Margin > 0 {
		m.propose("margin", "%s", m.marginFlag(float64(m.Remedy.Margin)))
	}
	m.moreUnits(o)
	switch cv := m.amount(float64(m.Remedy.CV)); {
	case m.Remedy.CV == 0:
	case m.Unit == "start":
		m.propose("noise", "starts that vary by at most %s: pin what differs between them, such as clocks, placement and compiled graphs", cv)
	default:
		quieter := ", or a quieter load, one request at a time or a third of capacity, since near saturation noise grows faster than what a slower engine adds"
		if m.higher() {
			quieter = "" // goodput is asked for where it is in question
		}
		m.propose("noise", "runs that vary by at most %s: longer windows%s", cv, quieter)
	}
	if m.Unit == "start" {
		m.propose("both now", "runs of both builds in turn instead of a stored baseline, if -interleaved can resolve it")
	}
	if m.Unit == "run" && m.LargestPairCV > 0 {
		m.propose("seeds", "the same arrivals in both arms (the gate replays the baseline's seeds), if differences between paired runs ÷ √2 vary by at most %s", m.amount(roundDown(float64(m.LargestPairCV))))
	}
}

// bounds says what the measured variation leaves open.
func (m *metricForecast) bounds(last int) {
	if m.Runs == 0 {
		return
	}
	df := float64(m.Runs - 1)
	if m.Unit == "start" {
		df = float64(m.Starts - 1)
	}
	lower := stat.CVLower(float64(m.CV), df, confidence)
	switch largest := float64(m.LargestCV); {
	case lower > largest:
		m.say("certain", "even the lower 80 %% bound of the variation, %s, is too much", m.amount(lower))
	case float64(m.CV) > largest:
		m.say("likely", "as measured, %s, it is too much too", m.amount(float64(m.CV)))
	default:
		m.say("perhaps", "as measured, %s, it would do; planned with the upper 80 %% bound, %s, it does not", m.amount(float64(m.CV)), m.amount(float64(m.PlannedCV)))
	}
}

func (m *metricForecast) fates() {
	one := func(f fate, good string, share number, bad string, other number) string {
		s := fmt.Sprintf("%s %s, %s %s", chance(share), good, chance(other), bad)
		if f.Runs > 0 {
			s += fmt.Sprintf(", %.1f runs", float64(f.Runs))
		}
		if f.Minutes > 0 {
			s += fmt.Sprintf(" (%s engine minutes)", three(float64(f.Minutes)))
		}
		return s
	}
	m.say("on average", "unchanged: %s; %s slower: %s",
		one(m.Unchanged, "pass", m.Unchanged.Pass, "regressed", m.Unchanged.Regressed), m.size(m.Slower.Slowdown),
		one(m.Slower, "regressed", m.Slower.Regressed, "pass", m.Slower.Pass))
}

// moreUnits is the line of what more runs or starts it takes.
func (m *metricForecast) moreUnits(o planOptions) {
	r := m.Remedy
	switch {
	case r.Candidate == 0:
		m.say(m.Unit+"s", "more of them are no way out: it would take more than %d", m.most())
	case m.Unit == "start":
		text := fmt.Sprintf("-starts %d", r.Candidate)
		if r.Baseline > m.Stored {
			text += fmt.Sprintf(" and a baseline of %d starts", r.Baseline)
		}
		m.propose("starts", "%s", text)
	default:
		text := "-looks " + list(r.Looks)
		switch {
		case r.Baseline <= m.Stored || m.Stored == 0:
		case o.baseline != "":
			text += fmt.Sprintf(" and a baseline of %d runs", r.Baseline)
		default:
			text = fmt.Sprintf("-stored %d %s", r.Baseline, text)
		}
		m.propose("runs", "%s%s", text, m.cost(o, r.Candidate))
	}
}
