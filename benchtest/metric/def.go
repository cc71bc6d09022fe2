package metric

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Direction is the direction in which a metric gets better.
type Direction int

// The directions. Same, the zero value, is for a metric that describes the
// work done: it is neither better nor worse, only different.
const (
	Same Direction = iota
	Lower
	Higher
)

// String returns "lower", "higher" or "same".
func (d Direction) String() string {
	switch d {
	case Lower:
		return "lower"
	case Higher:
		return "higher"
	}
	return "same"
}

// Scale says how two values of a metric are compared.
type Scale int

// The scales. Ratio, the zero value, compares logarithms: every legal value
// is positive. Difference is for rates, shares and anything that may be zero.
const (
	Ratio Scale = iota
	Difference
)

// String returns "ratio" or "difference".
func (s Scale) String() string {
	if s == Difference {
		return "difference"
	}
	return "ratio"
}

// Def is the definition of a metric that Record.Value knows.
type Def struct {
	// Name is the metric's name, as in "p99-ttft-sec".
	Name string
	// Unit is the unit of its values: "sec", "req/s", "tok/s", "tokens", or
	// "share" for a number from 0 to 1.
	Unit string
	// Better is the direction in which it gets better, Scale how two of its
	// values are compared.
	Better Direction
	Scale  Scale
	// Note is the formula, in words.
	Note string

	value func(records []*Record) (float64, error)
}

// Lookup returns the definition of a metric.
func Lookup(name string) (Def, bool) {
	i, ok := index[name]
	if !ok {
		return Def{}, false
	}
	return defs[i], true
}

// Names returns the names of all metrics, in the order of reports.
func Names() []string {
	names := make([]string, len(defs))
	for i, d := range defs {
		names[i] = d.Name
	}
	return names
}

// Words says how new compares with old: "better", "worse", "different" or
// "equal". A value that is not finite compares as "unknown", never as better.
func (d Def) Words(old, new float64) string {
	switch {
	case !finite(old) || !finite(new):
		return "unknown"
	case old == new:
		return "equal"
	case d.Better == Same:
		return "different"
	case (new < old) == (d.Better == Lower):
		return "better"
	}
	return "worse"
}

// Change is the relative change from old to new, (new − old) ÷ old, the one
// definition of "by how much" here: 0.05 is five per cent more than before.
// It is an error where old is zero or either is not finite.
func Change(old, new float64) (float64, error) {
	if !finite(old) || !finite(new) {
		return 0, fmt.Errorf("metric: no valid value to compare: old %v, new %v", old, new)
	}
	if old == 0 {
		return 0, fmt.Errorf("metric: no relative change from zero to %v: compare the difference", new)
	}
	return (new - old) / old, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

var (
	defs  []Def
	index = map[string]int{}
)

// quantiles are those of every latency, by the names that metrics have.
var quantiles = []struct {
	name string
	p    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}}

func init() {
	for _, l := range latencies {
		scale := Ratio
		if l.name == "lag" {
			scale = Difference // a sender in virtual time has none
		}
		add := func(stat string, value func([]*Record) (float64, error)) {
			defs = append(defs, Def{Name: stat + "-" + l.name + "-sec", Unit: "sec", Better: Lower, Scale: scale, Note: l.note, value: value})
		}
		add("mean", func(r []*Record) (float64, error) { return l.mean(r) })
		for _, q := range quantiles {
			add(q.name, func(r []*Record) (float64, error) { return l.quantile(r, q.p) })
		}
	}
	defs = append(defs, totals...)
	for i, d := range defs {
		index[d.Name] = i
	}
}

// latencies are the times that a request has, in the order of reports.
var latencies = []latency{
	{name: "ttft", get: (*Timeline).TTFT, note: "first token event − scheduled"},
	{name: "service-ttft", get: (*Timeline).ServiceTTFT, note: "first token event − scheduled (or let go by a client-side limit) − lag"},
	{name: "tpot", get: (*Timeline).TPOT, note: "(last − first token event) ÷ (tokens − tokens in the first event)",
		lacks: "one token each, all in one read, or no count of tokens from the server"},
	{name: "itl", note: "gaps between token events", lacks: "one event each, or all in one read"},
	{name: "e2e", get: (*Timeline).E2E, note: "last token event − scheduled"},
	{name: "lag", get: (*Timeline).Lag, all: true, note: "sent − scheduled (or let go by a client-side limit) − the wait for a connection"},
	{name: "probe-ttft", get: (*Timeline).TTFT, of: (*Record).countedProbes, note: "first token event − scheduled, of the single-token requests beside the load"},
}

// latency is one of them: get takes it from a request that succeeded, or from
// any when all is set; without get it is the gaps, which a record summarises.
type latency struct {
	name string
	get  func(*Timeline) (time.Duration, bool)
	all  bool
	note string
	// of are the requests of a record that it is of; nil is those of the load.
	of func(*Record) []*Timeline
	// lacks is why requests that succeeded may not have it.
	lacks string
}

// counted are the requests of the window that it is of.
func (l latency) counted(r *Record) []*Timeline {
	if l.of != nil {
		return l.of(r)
	}
	return r.Counted()
}

// values are the sorted values of the window's requests.
func (l latency) values(records []*Record) ([]time.Duration, error) {
	var values []time.Duration
	arrivals, succeeded := 0, 0
	for _, r := range records {
		counted := l.counted(r)
		values = slices.Grow(values, len(counted))
		for _, t := range counted {
			arrivals++
			if !t.Failed() {
				succeeded++
			} else if !l.all {
				continue
			}
			if v, ok := l.get(t); ok {
				values = append(values, v)
			}
		}
	}
	if len(values) == 0 {
		return nil, l.absent(arrivals, succeeded)
	}
	slices.Sort(values)
	return values, nil
}
