package main

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/openloop-go/openloop/regressions"
	"github.com/openloop-go/openloop/regressions/stat"
)

// mostPaths is the number of gates simulated for a chance, whose standard error
// is then at most a quarter of a percentage point; arms of hundreds of runs get
// fewer, so that a plan takes no more than mostDraws. chanceSeed makes them the
// same every time.
const (
	mostPaths  = 40_000
	mostDraws  = 8_000_000
	chanceSeed = 1
)

// confidence of the upper bound of a measured variation that is planned with.
const confidence = 0.80

// number is one that JSON may not be able to hold: null when not finite.
type number float64

// MarshalJSON writes the number, or null.
func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// forecast is a plan. Sizes are relative, as the margin is, unless they are
// said to be in CV.
type forecast struct {
	Design         string           `json:"design"` // interleaved or stored
	Looks          []int            `json:"looks"`
	FalseAlarms    number           `json:"false_alarms"`
	Comparisons    int              `json:"comparisons"`
	LevelRegressed number           `json:"level_regressed"`
	LevelPass      number           `json:"level_pass"`
	Power          number           `json:"power"`
	MinutesPerRun  number           `json:"minutes_per_run,omitempty"`
	Resolvable     bool             `json:"resolvable"`
	Notes          []advice         `json:"notes,omitempty"`
	Metrics        []metricForecast `json:"metrics"`
}

// metricForecast is the plan of one metric.
type metricForecast struct {
	Metric string `json:"metric,omitempty"`
	Role   string `json:"role"`
	Margin number `json:"margin"`
	// CV is what was given or measured, PlannedCV what is planned with; of
	// runs or, where the start is the unit, of starts.
	CV        number `json:"cv"`
	PlannedCV number `json:"planned_cv"`
	Unit      string `json:"unit"` // run or start
	// Stored is the size of the baseline in units, Starts its starts.
	Stored int `json:"stored,omitempty"`
	Runs   int `json:"baseline_runs,omitempty"`
	Starts int `json:"baseline_starts,omitempty"`

	Resolvable bool `json:"resolvable"`
	// SmallestMargin, LargestCV and LargestPairCV are those of the last look;
	// the last of a difference between paired runs ÷ √2.
	SmallestMargin number `json:"smallest_margin"`
	LargestCV      number `json:"largest_cv"`
	LargestPairCV  number `json:"largest_pair_cv"`

	Looks     []lookForecast `json:"looks"`
	Unchanged fate           `json:"unchanged"`
	Slower    fate           `json:"slower"`

	Remedy   remedy   `json:"remedy"`
	Sentence string   `json:"sentence"`
	Notes    []advice `json:"notes,omitempty"`
	// WouldDo is what makes the margin resolvable, each by itself.
	WouldDo []advice `json:"would_do,omitempty"`

	noise   regressions.Noise
	planner stat.Planner
}

// lookForecast is what one look can show.
type lookForecast struct {
	Units    int    `json:"candidate"`
	Baseline int    `json:"baseline"`
	Minutes  number `json:"engine_minutes,omitempty"`
	// MDE5 is that of a plain two-sided test at 5 %, in CV and times the CV.
	MDE5InCV number `json:"mde_two_sided_5pct_in_cv"`
	MDE5     number `json:"mde_two_sided_5pct"`
	CouldSee number `json:"could_see"`
	Line     number `json:"significant_from"`
	Called   number `json:"called_regressed_from"`
	// Margin is the smallest that is resolved, MarginInCV its logarithm ÷ CV.
	Margin     number `json:"smallest_margin"`
	MarginInCV number `json:"smallest_margin_in_cv"`
	// Passed is the share of unchanged engines that have passed by this look,
	// Caught that of slower ones called regressed.
	Passed number `json:"unchanged_passed"`
	Caught number `json:"slower_regressed"`
}

// fate is what becomes of an engine that is slower by Slowdown.
type fate struct {
	Slowdown  number `json:"slowdown"`
	Pass      number `json:"pass"`
	Regressed number `json:"regressed"`
	Runs      number `json:"mean_runs,omitempty"`
	Minutes   number `json:"mean_engine_minutes,omitempty"`
}

func (o planOptions) forecast(all []regressions.Noise) (*forecast, error) {
	f := &forecast{
		Design: "interleaved", Looks: o.looks(), FalseAlarms: number(o.falseAlarms()), Power: number(stat.Power),
		Comparisons: len(all) * max(o.gate.Gates, 1), MinutesPerRun: number(o.minutes), Resolvable: true,
	}
	if o.stored > 0 || o.baseline != "" && !o.interleaved {
		f.Design = "stored"
	}
	if o.power != 0 {
		f.Power = number(o.power)
	}
	worse, same, err := o.gate.Levels(f.Comparisons)
	if err != nil {
		return nil, err
	}
	f.LevelRegressed, f.LevelPass = number(worse), number(same)
	for _, n := range all {
		if n.Role == regressions.Guard {
			continue // it needs no proof to pass
		}
		m := o.describe(n)
		m.planner.Rule = stat.Rule{Margin: n.OnTest(n.Margin), Worse: worse, Same: same}
		m.planner.Power = float64(f.Power)
		if err := m.fill(o, f); err != nil {
			return nil, err
		}
		if err := m.advise(o, f); err != nil {
			return nil, err
		}
		f.Resolvable = f.Resolvable && (m.Resolvable || n.Role == regressions.Watched)
		f.Metrics = append(f.Metrics, m)
	}
	f.explain()
	return f, nil
}

// describe picks the design: which runs or starts, and how much they vary.
func (o planOptions) describe(n regressions.Noise) metricForecast {
	m := metricForecast{
		Metric: n.Metric, Role: string(n.Role), Margin: number(n.Margin), Unit: "run",
		Runs: n.Runs, Starts: n.Starts, noise: n,
	}
	sd, df, layout := n.SD, float64(n.Runs-1), stat.Interleaved
	switch {
	case o.baseline != "" && !o.interleaved && n.ByStart():
		sd, df, layout = n.Between, float64(n.Starts-1), stat.ByStart
		m.Unit, m.Stored = "start", n.Starts
	case o.baseline != "" && !o.interleaved:
		layout, m.Stored = stat.Stored, n.Runs
	case o.stored > 0:
		layout, m.Stored = stat.Stored, o.stored
	}
	planned := sd
	if n.Runs > 0 {
		planned = stat.CVUpper(sd, df, confidence)
	}
	planned = math.Max(planned, stat.Floor)
	m.CV, m.PlannedCV = number(sd), number(planned)
	m.planner = stat.Planner{Layout: layout, S: planned, Stored: m.Stored}
	return m
}

// units are the looks, in runs, or the numbers of candidate starts.
func (m *metricForecast) units(o planOptions) []int {
	if m.planner.Layout != stat.ByStart {
		return o.looks()
	}
	return []int{max(o.starts, 1)}
}

func (m *metricForecast) fill(o planOptions, f *forecast) error {
	p, n, units := m.planner, m.noise, m.units(o)
	last := units[len(units)-1]
	pairs := p
	pairs.Layout = stat.Replayed
	m.Resolvable = p.Resolvable(last) <= p.Rule.Margin
	m.SmallestMargin = number(n.Size(p.Resolvable(last)))
	m.LargestCV = number(p.Largest(last))
	m.LargestPairCV = number(pairs.Largest(f.lastLook()))
	twice := 2 * n.Margin
	if m.higher() {
		twice = math.Min(twice, 0.99)
	}
	paths := cmp.Or(o.paths, min(mostPaths, mostDraws/(m.Stored+2*last)))
	same, err := p.Chances(units, 0, paths, chanceSeed)
	if err != nil {
		return err
	}
	slow, err := p.Chances(units, n.OnTest(twice), paths, chanceSeed+1)
	if err != nil {
		return err
	}
	m.Unchanged, m.Slower = m.fate(o, 0, same), m.fate(o, twice, slow)
	for i, k := range units {
		at := p.At(k)
		l := lookForecast{
			Units: k, Baseline: k,
			MDE5InCV: number(stat.Test{Alpha: 0.05, Sides: 2, Power: p.Power}.Factor(at.DF) * at.SE / p.S),
			CouldSee: number(n.Size(at.MDE(p.Rule.Worse))), Line: number(n.Size(at.Line(p.Rule.Worse))),
			Called: number(n.Size(p.Smallest(k))),
			Margin: number(n.Size(p.Resolvable(k))), MarginInCV: number(p.Resolvable(k) / p.S),
			Passed: number(same.Within[i]), Caught: number(slow.Slower[i]),
		}
		l.MDE5 = number(float64(l.MDE5InCV) * p.S)
		if m.Stored > 0 {
			l.Baseline = m.Stored
		}
		if m.Unit == "run" {
			l.Minutes = number(float64(k) * m.minutes(o))
		}
		m.Looks = append(m.Looks, l)
	}
	return nil
}

func (f *forecast) lastLook() int { return f.Looks[len(f.Looks)-1] }

// minutes are the engine's for one candidate run, with its partner where the
// arms are interleaved; 0 when unknown.
func (m *metricForecast) minutes(o planOptions) float64 {
	if m.planner.Layout == stat.Interleaved {
		return 2 * o.minutes
	}
	return o.minutes
}

func (m *metricForecast) fate(o planOptions, slowdown float64, c stat.Chances) fate {
	last := len(c.Within) - 1
	out := fate{Slowdown: number(slowdown), Pass: number(c.Within[last]), Regressed: number(c.Slower[last])}
	if m.Unit == "run" {
		out.Runs, out.Minutes = number(c.Runs), number(c.Runs*m.minutes(o))
	}
	return out
}
